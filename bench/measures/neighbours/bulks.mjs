/** Bulks of a neighbour, one behind the other on the same records: each leaves them for the next. */
export const NEIGHBOUR = { organizationid: 'bench', appid: 'neighbour' };

const BATCH = 5000;
const ALL = { ...NEIGHBOUR, type: 'product' };
const SERVICE = { ...NEIGHBOUR, kind: 'product', name: 'all' };

/** Each by its name: `(db, count, round)`. */
export const bulks = {
  'an import': async (db, count, round) => {
    for (let first = 0; first < count; first += BATCH) {
      const length = Math.min(BATCH, count - first);
      await db
        .collection('products')
        .insertMany(Array.from({ length }, (_, index) => productAt(`${round}-${first + index}`)));
    }
  },
  'an update that leaves the stamps': (db) =>
    db.collection('products').updateMany(ALL, { $inc: { 'data.number': 1 } }),
  'an update that stamps': (db) =>
    db
      .collection('products')
      .updateMany(ALL, [{ $set: { 'data.number': { $add: ['$data.number', 1] }, lastupdated: '$$NOW' } }]),
  /** Takes every record out of the filter, and the next one back into it. */
  'a filter edit': (db, _count, round) => serve(db, round % 2 === 0 ? { 'data.color': 'red' } : {}),
  'a deleteMany': (db) => db.collection('products').deleteMany(ALL),
};

/** The filter of the neighbour's one service. */
export async function serve(db, filter) {
  await db.collection('services').updateOne(SERVICE, { $set: { ...SERVICE, filter } }, { upsert: true });
}

/** Raises the mark of an application's products, as `max` does. */
export async function raise(db, { organizationid, appid }) {
  const fence = { $max: ['$$NOW', '$fence'] };
  await db
    .collection('tidemark.marks')
    .updateOne(
      { _id: { organizationid, appid, kind: 'product' } },
      [
        { $set: { fence, raises: { $add: [{ $ifNull: ['$raises', 0] }, 1] } } },
        { $set: { announced: { $concat: [{ $toString: '$fence' }, ' ', { $toString: '$raises' }] } } },
      ],
      { upsert: true },
    );
}

function productAt(number) {
  const now = new Date();
  return {
    ...NEIGHBOUR,
    id: `neighbour-${number}`,
    ...{ type: 'product', createDate: now, createdBy: 'neighbour', lastupdated: now },
    data: { number: 1 },
  };
}
