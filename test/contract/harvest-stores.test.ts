import Database from 'libsql';
import { mongo } from 'mongoose';
import { type CopyPlace, mongodbCopies, ndjsonCopies, sqliteCopies } from '../support/copies/index.js';
import { HALVES, storeContract } from './harvest-store-contract.js';

const tooLong = () => {
  throw new RangeError('Invalid string length');
};
const nested = (levels: number): object => (levels === 0 ? {} : { in: nested(levels - 1) });

const REFUSED = { createdBy: 'refused' };

/** What the user of an SQLite file adds to the table. */
const inSqlite =
  (sql: string) =>
  ({ to }: CopyPlace): Promise<void> => {
    const database = new Database(to);
    database.exec(sql);
    database.close();
    return Promise.resolve();
  };
const trigger = (how: string) =>
  inSqlite(
    `CREATE TRIGGER own BEFORE INSERT ON products WHEN new.createdBy = 'refused' BEGIN SELECT RAISE(${how}, 'own'); END`,
  );

/** What the user of a MongoDB adds to the collection. */
const inMongodb =
  (add: (collection: mongo.Collection, database: mongo.Db) => Promise<unknown>) =>
  async ({ to, table }: CopyPlace): Promise<void> => {
    const client = new mongo.MongoClient(to);
    try {
      await add(client.db().collection(table), client.db());
    } finally {
      await client.close();
    }
  };

storeContract(
  'SQLite',
  () => Promise.resolve(sqliteCopies()),
  [
    ...HALVES,
    ['what a trigger aborts', 'own', REFUSED, trigger('ABORT')],
    [
      'what a trigger drops without an error',
      'own',
      REFUSED,
      inSqlite(
        "CREATE TRIGGER own BEFORE INSERT ON products WHEN new.createdBy = 'refused' BEGIN SELECT RAISE(IGNORE); END",
      ),
    ],
    ['what a trigger rolls back', 'own', REFUSED, trigger('ROLLBACK')],
    [
      'what is not unique',
      'own',
      {},
      inSqlite("CREATE UNIQUE INDEX own ON products((1)) WHERE id IN ('a', 'own')"),
    ],
    [
      'what an index cannot read',
      'own',
      REFUSED,
      inSqlite(
        "CREATE INDEX own ON products(json_extract(iif(createdBy = 'refused', createdBy, '{}'), '$.a'))",
      ),
    ],
  ],
  [
    [
      'what a trigger keeps without an error',
      inSqlite(
        "CREATE TRIGGER own BEFORE DELETE ON products WHEN old.createdBy = 'kept' BEGIN SELECT RAISE(IGNORE); END",
      ),
    ],
  ],
);
storeContract('NDJSON', () => Promise.resolve(ndjsonCopies()), [
  ['a record that is longer than a text can be', 'long', { data: { toJSON: tooLong } }],
]);
storeContract('MongoDB', () => mongodbCopies(process.env['TIDEMARK_TEST_MONGODB_URI'] ?? ''), [
  ['a value that the driver takes for one of its own', 'bson', { data: { deep: [{ _bsontype: 'Long' }] } }],
  ['another one of these', 'bson', { data: { _bsontype: { any: 'thing' } } }],
  ['a record that is larger than a document', 'large', { data: { text: 'x'.repeat(17 * 1024 * 1024) } }],
  ['a record that is nested too deep', 'deep', { data: nested(250) }],
  ...HALVES,
  ['a record with half of a surrogate pair', 'half', { data: { deep: ['\ud83d'] } }],
  ['a name with half of a surrogate pair', 'half', { data: { '\ud83d': 1 } }],
  [
    'what is not unique',
    'own',
    {},
    inMongodb((products) =>
      products.createIndex(
        { type: 1 },
        { unique: true, partialFilterExpression: { _id: { $in: ['a', 'own'] } } },
      ),
    ),
  ],
  [
    'what an index cannot take',
    'own',
    { data: { at: { type: 'Point', coordinates: ['x'] } } },
    inMongodb((products) => products.createIndex({ 'data.at': '2dsphere' })),
  ],
  [
    'what a validator refuses',
    'own',
    REFUSED,
    inMongodb((products, database) =>
      database.command({ collMod: products.collectionName, validator: { createdBy: { $ne: 'refused' } } }),
    ),
  ],
]);
