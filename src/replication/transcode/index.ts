export { type FieldMask, fieldMask } from './field-mask.js';
export { MalformedBsonError } from './bson-reader.js';
export {
  batchOf,
  type ItemShape,
  type ItemsText,
  type RawBatch,
  itemsText,
  itemText,
  rawBatch,
} from './items-text.js';
export { numberedIn, packedIds, renamed, tallyOf } from './number-texts.js';
export { giveBack } from './writer.js';
