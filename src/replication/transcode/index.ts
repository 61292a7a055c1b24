export { type FieldMask, fieldMask } from './field-mask.js';
export { MalformedBsonError } from './bson-reader.js';
export { type ItemShape, type ItemsText, type RawBatch, itemsText, rawBatch } from './items-text.js';
export { numberedIn, packedIds, renamed, tallyOf } from './number-texts.js';
export { giveBack } from './writer.js';
