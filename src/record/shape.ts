const NO_LIST = { $not: { $type: 'array' } };

/**
 * A query document for records that can be delivered. Equality and comparison in MongoDB also find lists that hold the
 * value; a list in place of organization, application or `id` is no text, so such a record belongs to nobody, and one
 * in place of `lastupdated` is no date, so such a record waits until it is mended (contract §4).
 */
export const DELIVERABLE = {
  organizationid: NO_LIST,
  appid: NO_LIST,
  lastupdated: NO_LIST,
  $and: [{ id: { $type: 'string' } }, { id: NO_LIST }],
};
