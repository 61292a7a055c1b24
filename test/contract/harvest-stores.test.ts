import { mongodbCopies, ndjsonCopies, sqliteCopies } from '../support/copies/index.js';
import { storeContract } from './harvest-store-contract.js';

storeContract('SQLite', () => Promise.resolve(sqliteCopies()));
storeContract('NDJSON', () => Promise.resolve(ndjsonCopies()));
storeContract('MongoDB', () => mongodbCopies(process.env['TIDEMARK_TEST_MONGODB_URI'] ?? ''), [
  ['a value that the driver takes for one of its own', 'bson', { data: { deep: [{ _bsontype: 'Long' }] } }],
  ['another one of these', 'bson', { data: { _bsontype: { any: 'thing' } } }],
  ['a record that is larger than a document', 'large', { data: { text: 'x'.repeat(17 * 1024 * 1024) } }],
]);
