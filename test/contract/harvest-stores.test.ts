import { mongodbCopies, ndjsonCopies, sqliteCopies } from '../support/copies/index.js';
import { storeContract } from './harvest-store-contract.js';

storeContract('SQLite', () => Promise.resolve(sqliteCopies()));
storeContract('NDJSON', () => Promise.resolve(ndjsonCopies()));
storeContract('MongoDB', () => mongodbCopies(process.env['TIDEMARK_TEST_MONGODB_URI'] ?? ''));
