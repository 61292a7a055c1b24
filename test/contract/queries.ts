import type { mongo } from 'mongoose';
import type { TestService } from '../support/index.js';

/** What the server's profiler tells of a query, or of one more reply of its cursor. */
export interface Query extends mongo.Document {
  nreturned: number;
  planSummary: string;
  keysExamined: number;
  docsExamined: number;
  command: mongo.Document;
}

const PROFILE_BYTES = 64 * 1024 * 1024;
const COLLECTIONS = ['members', 'products', 'ledger'];

/** What feeds and max asked the database of records and tombstones while something was done. */
export async function queriesOf({ db }: TestService, work: () => Promise<unknown>): Promise<Query[]> {
  await db.command({ profile: 0 });
  await db.collection('system.profile').drop();
  await db.createCollection('system.profile', { capped: true, size: PROFILE_BYTES });
  await db.command({ profile: 2 });
  await work();
  await db.command({ profile: 0 });
  const namespaces = COLLECTIONS.map((name) => `${db.databaseName}.${name}`);
  const queries = await db
    .collection('system.profile')
    .find<Query>({ ns: { $in: namespaces } })
    .toArray();
  return queries.filter((query) => JSON.stringify(query).includes('"tidemark '));
}

export const plansOf = (queries: Query[]) => queries.map((query) => query.planSummary);

export const sumOf = (queries: Query[], what: 'keysExamined' | 'docsExamined') =>
  queries.reduce((sum, query) => sum + query[what], 0);
