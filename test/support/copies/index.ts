export type { CopiedRecord, CopyPlace, CopyPlaces } from './copy-place.js';
export { mongodbCopies } from './mongodb-copies.js';
export { ndjsonCopies } from './ndjson-copies.js';
export { sqliteCopies } from './sqlite-copies.js';
