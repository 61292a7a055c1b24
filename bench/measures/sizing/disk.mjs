/** What lies on disk: of the records, of what the service keeps about them, and of the log of the database. */

const LEDGER = 'tidemark.ledger';
const OWN = /^tidemark\./;

/** Bytes as of a checkpoint: what is not flushed yet has no place on disk. */
export async function diskOf(db) {
  await db.client.db('admin').command({ fsync: 1 });
  const names = (await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name);
  const stats = async (name) => {
    const { size, storageSize, totalIndexSize } = await db.command({ collStats: name });
    return { stored: size, data: storageSize, indexes: totalIndexSize };
  };
  const rest = await Promise.all(names.filter((name) => OWN.test(name) && name !== LEDGER).map(stats));
  return {
    products: await stats('products'),
    ledger: await stats(LEDGER),
    rest: rest.reduce((sum, { data, indexes }) => sum + data + indexes, 0),
  };
}

/**
 * Bytes in the oplog for the database since a position: `{ all, own }`. `own` counts writes into the service's own collections.
 * Undefined where the log no longer reaches back that far.
 */
export async function logSince(db, position) {
  const log = db.client.db('local').collection('oplog.rs');
  const [oldest] = await log.find().sort({ $natural: 1 }).limit(1).toArray();
  if (oldest.ts.greaterThan(position)) return undefined;
  const bytes = { $bsonSize: '$$ROOT' };
  const ofOwn = { $regexMatch: { input: '$ns', regex: `^${db.databaseName}\\.tidemark\\.` } };
  const sums = { all: { $sum: bytes }, own: { $sum: { $cond: [ofOwn, bytes, 0] } } };
  const [found] = await log
    .aggregate([{ $match: { ts: { $gt: position } } }, { $group: { _id: null, ...sums } }])
    .toArray();
  return found ?? { all: 0, own: 0 };
}
