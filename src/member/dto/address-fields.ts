/** The fields of an address, in the order in which a new one is stored. */
export const ADDRESS_FIELDS = ['address', 'address2', 'zipcode', 'city', 'country'] as const;
