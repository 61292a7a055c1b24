/**
 * The fields of a record that no answer shows: what the service keeps for itself, and password hashes. Feeds show hashes
 * where an application's settings say so, and nothing else does.
 */
export const HIDDEN_FIELDS = ['emailkey', 'data.passwordhash'] as const;
