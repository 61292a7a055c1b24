export { idTextAt, idTextOf } from './id-text.js';
export { updateItemText } from './item.js';
export { jsonText, READ_FOR_JSON } from './json.js';
export { COLLECTION_OF, FIRST_ID, type Kind, KINDS, type RecordDocument, type Tenant } from './record.js';
export { DELIVERABLE } from './shape.js';
export { EARLIEST, HAS_GOOD_STAMP, needsStamp, STAMP, stampAbove } from './stamp.js';
export { idAt, IDENTITY, IDENTITY_TEXTS, identityTextsAt, textAt, textsAt } from './typed.js';
