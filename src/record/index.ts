export {
  doubled,
  doubledNameIn,
  EARLIEST,
  HAS_GOOD_STAMP,
  isSingleAlong,
  needsStamp,
  single,
  STAMP,
  stampAbove,
  stampAnew,
  stampDoubled,
  type Stamping,
  stampTogether,
  type Unstamped,
} from './stamp.js';
export { LONGEST_SEARCH_MS, RecordsHeldError, writeUnlessHeld } from './held.js';
export {
  hasMoreTexts,
  idAt,
  IDENTITY,
  IDENTITY_TEXTS,
  identityTextsAt,
  idTextAt,
  idTextOf,
  isLongText,
  isNumberText,
  isShortText,
  LONGEST_LEARNED,
  LONGEST_NUMBER_TEXT,
  textAt,
  textsAt,
} from './identity.js';
export { canonicalText, channelsOf, jsonText, READ_FOR_JSON, updateItemText } from './item.js';
export * from './pure.js';
export { documentForJson, documentOf, valueForJson } from './read-for-json.js';
export { recordsIn, stagesOver, storedName, termsOf } from './records.js';
export type { StoredTerms } from './stored-shape.js';
export { BY_EMAIL_KEY, BY_RECORD_ID, BY_STAMP, ofTenant, withIds } from './record.js';
export { indexesOfKind, modelOf, MOST_KINDS, OWN_INDEX, readKinds, recordModels } from './record.schema.js';
