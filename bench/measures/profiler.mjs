/** What the database was asked while something was done. */

/** The level at which only what the filter takes is kept; at the level above it, everything is. */
const BY_FILTER = 1;

/** Room for a whole harvest whose queries name all their `_id`s. */
const PROFILE_BYTES = 1024 ** 3;
const COMMENT = 'tidemark feed';

/** Who asks, and for what: the leader reads neither, and raises no marks. */
const OF_REQUESTS = ['credentials', 'applications', 'tidemark.marks'];

/** The queries of the service's feeds for records, in order: `{ command, keysExamined, docsExamined, nreturned, … }`. */
export async function feedQueriesOf(db, work) {
  const filter = { $or: [{ 'command.comment': COMMENT }, { 'originatingCommand.comment': COMMENT }] };
  await profiled(db, filter, work);
  const ofRecords = { ns: `${db.databaseName}.products` };
  const projection = { command: 1, keysExamined: 1, docsExamined: 1, nreturned: 1, planSummary: 1 };
  return db.collection('system.profile').find(ofRecords, { projection }).sort({ $natural: 1 }).toArray();
}

/** How many commands requests for `max` have sent. */
export async function commandsOfRequests(db, work) {
  const namespaces = OF_REQUESTS.map((name) => `${db.databaseName}.${name}`);
  const filter = {
    $or: [
      { ns: { $in: namespaces }, op: { $in: ['query', 'update'] } },
      { ns: `${db.databaseName}.tidemark.heads`, op: 'query' },
      { 'command.comment': 'tidemark max' },
    ],
  };
  await profiled(db, filter, work);
  return db.collection('system.profile').countDocuments();
}

async function profiled(db, filter, work) {
  await db.command({ profile: 0 });
  await db.collection('system.profile').drop();
  await db.createCollection('system.profile', { capped: true, size: PROFILE_BYTES });
  await db.command({ profile: BY_FILTER, filter });
  try {
    await work();
  } finally {
    await db.command({ profile: 0 });
  }
}
