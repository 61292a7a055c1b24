import 'reflect-metadata';

/** Milliseconds for one test or hook: it ends when its conditions hold, however loaded the machine is. */
jest.setTimeout(240_000);

/** The replica set of this worker (see mongod-setup.mjs); workers are counted from 1. */
const uris = process.env['TIDEMARK_TEST_MONGODB_URIS']?.split(' ');
const worker = Number(process.env['JEST_WORKER_ID'] ?? 1);
if (uris !== undefined) process.env['TIDEMARK_TEST_MONGODB_URI'] = uris[(worker - 1) % uris.length];
