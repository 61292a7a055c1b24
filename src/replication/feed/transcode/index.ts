export { MalformedBsonError } from './bson-reader.js';
export { type ItemShape, type ItemsText, itemsText } from './items-text.js';
export { numberedIn, renamed } from './number-texts.js';
export { giveBack } from './output-buffers.js';
export { packedIds, tallyOf } from './packed-ids.js';
export { type RawBatch, rawBatch } from './raw-batch.js';
