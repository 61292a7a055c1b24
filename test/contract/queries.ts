import { collectionNamed, KINDS_AND_WARES, type TestService } from '../support/index.js';
import { commandsDuring, type Profiled } from './profiler.js';

/** What the profiler tells of a query, or of one more reply of its cursor. */
export interface Query extends Profiled {
  nreturned: number;
  planSummary: string;
  keysExamined: number;
  docsExamined: number;
}

const COLLECTIONS = [...KINDS_AND_WARES.map(collectionNamed), 'tidemark.ledger'];

/** What feeds and max asked the database of records and tombstones while something was done. */
export async function queriesOf({ db }: TestService, work: () => Promise<unknown>): Promise<Query[]> {
  const namespaces = COLLECTIONS.map((name) => `${db.databaseName}.${name}`);
  const isOurs = (command: Profiled) =>
    namespaces.includes(command.ns) && /"tidemark /.test(JSON.stringify(command));
  return (await commandsDuring(db, work)).filter(isOurs) as Query[];
}

export const plansOf = (queries: Query[]) => queries.map((query) => query.planSummary);

export const sumOf = (queries: Query[], what: 'keysExamined' | 'docsExamined') =>
  queries.reduce((sum, query) => sum + query[what], 0);
