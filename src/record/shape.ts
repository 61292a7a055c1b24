const NO_LIST = { $not: { $type: 'array' } };

/**
 * A query document for records that can be delivered. Of those whose `id` is a number only the ones that the ledger knows
 * under it are: whoever delivers records looks there as well. Equality and comparison in MongoDB also find lists that hold the
 * value; a list in place of organization, application or `id` is not a string, so such a record belongs to nobody, and one
 * in place of `lastupdated` is not a date, so such a record waits until it is repaired (contract §4).
 */
export const DELIVERABLE = {
  organizationid: NO_LIST,
  appid: NO_LIST,
  lastupdated: NO_LIST,
  $and: [{ id: { $type: ['string', 'number'] } }, { id: NO_LIST }],
};
