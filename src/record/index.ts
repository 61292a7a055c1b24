export { doubledNameIn } from './doubled-name.js';
export { doubled, isSingleAlong, single, stampDoubled } from './doubled.js';
export { RecordsHeldError, writeUnlessHeld } from './held.js';
export { idTextAt, idTextOf, isNumberText, LONGEST_NUMBER_TEXT } from './id-text.js';
export { updateItemText } from './item.js';
export { jsonText, READ_FOR_JSON } from './json.js';
export * from './pure.js';
export { BY_EMAIL_KEY, BY_RECORD_ID, ofTenant, withIds } from './selection.js';
export { EARLIEST, HAS_GOOD_STAMP, needsStamp, STAMP, stampAbove } from './stamp.js';
export { stampAnew, type Stamping, stampTogether, type Unstamped } from './stamping.js';
export {
  hasMoreTexts,
  idAt,
  IDENTITY,
  IDENTITY_TEXTS,
  identityTextsAt,
  isLongText,
  isShortText,
  LONGEST_LEARNED,
  textAt,
  textsAt,
} from './typed.js';
