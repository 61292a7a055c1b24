export { channelsOf, deleteItemText, type ItemOptions, updateItemText } from './item.js';
export { jsonText, READ_FOR_JSON } from './json.js';
export { COLLECTION_OF, type Kind, KINDS, type RecordDocument, type Tenant } from './record.js';
export { DELIVERABLE } from './shape.js';
export {
  EARLIEST,
  HAS_GOOD_STAMP,
  isGoodStamp,
  isStampNeeded,
  needsStamp,
  nextStamp,
  STAMP,
  stampAbove,
} from './stamp.js';
export { idAt, textAt, textsAt } from './typed.js';
