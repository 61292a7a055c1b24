import fc from 'fast-check';
import { mongo } from 'mongoose';
import { filterFault, shownFieldsFault } from '../../src/application/index.js';

const MOST_RECORDS = 40;

/** A few values of every BSON type that matters to a comparison, so that filters and records meet. */
const scalar = fc.constantFrom<unknown>(
  ...[null, true, false, 0, 1, 2, 5, -1, 2.5, NaN, Infinity],
  ...[mongo.Long.fromNumber(2), mongo.Decimal128.fromString('2.5'), new mongo.Double(5)],
  ...['', 'a', 'ab', 'abc', 'b', '2', new Date(0), new Date(1000)],
  ...[new mongo.ObjectId('6b0135868b2d4656a43aaa06'), new mongo.Binary(Buffer.from('a'))],
  ...[new mongo.MinKey(), new mongo.MaxKey()],
);
const list = fc.array(scalar, { maxLength: 3 });
const small = fc.dictionary(fc.constantFrom('x', 'y'), scalar, { maxKeys: 2, noNullPrototype: true });
const value = fc.oneof(
  { arbitrary: scalar, weight: 6 },
  list,
  small,
  fc.array(fc.oneof(scalar, small, list), { maxLength: 3 }),
);

/** What another program may store, but for what the service itself sets. */
const storedRecord = fc.record(
  {
    data: fc.oneof(
      {
        arbitrary: fc.record(
          {
            a: value,
            b: value,
            n: fc.oneof(small, value),
            rows: fc.array(fc.oneof(small, scalar), { maxLength: 3 }),
          },
          { requiredKeys: [], noNullPrototype: true },
        ),
        weight: 9,
      },
      scalar,
    ),
    channels: fc.oneof(fc.subarray(['web', 'store', 'b2b']), scalar),
    extra: value,
    type: fc.constantFrom('product', 'part'),
    createdBy: fc.constantFrom('erp', 'shop'),
  },
  { requiredKeys: ['data'], noNullPrototype: true },
);

const field = fc.constantFrom(
  ...[
    'data.a',
    'data.b',
    'data.n',
    'data.n.x',
    'data.n.y',
    'data.rows',
    'data.rows.x',
    'data.rows.1',
    'data.a.0',
  ],
  ...['data', 'channels', 'extra', 'extra.x', 'type', 'createdBy', 'id', 'missing.at.all'],
);
const pattern = fc.constantFrom('a', '^a', '^ab?', 'b$', '^(a|b)', '');
const expression = fc.constantFrom(/a/, /^A/i, /^a/, /b$/m);
const typeName = fc.constantFrom<unknown>(
  'string',
  'number',
  'null',
  'object',
  'array',
  'date',
  'bool',
  'int',
  1,
  16,
);
const types = fc.oneof(typeName, fc.array(typeName, { minLength: 1, maxLength: 2 }));
const division = fc.tuple(fc.constantFrom(1, 2, 3), fc.constantFrom(0, 1));

/** Conditions of one field by all operators of contract §4 that stand behind one. */
const plain = fc.oneof(
  ...['$eq', '$ne', '$gt', '$gte', '$lt', '$lte'].map((name) =>
    fc.record({ [name]: value }, { noNullPrototype: true }),
  ),
  fc.record({ $gte: scalar, $lt: scalar }, { noNullPrototype: true }),
  fc.record({ $in: fc.array(fc.oneof(value, expression), { maxLength: 3 }) }, { noNullPrototype: true }),
  fc.record({ $nin: fc.array(value, { maxLength: 3 }) }, { noNullPrototype: true }),
  fc.record({ $exists: fc.boolean() }, { noNullPrototype: true }),
  fc.record({ $type: types }, { noNullPrototype: true }),
  fc.record({ $size: fc.nat(3) }, { noNullPrototype: true }),
  fc.record({ $all: fc.array(value, { maxLength: 2 }) }, { noNullPrototype: true }),
  fc.record({ $mod: division }, { noNullPrototype: true }),
  fc.record({ $regex: pattern, $options: fc.constantFrom('', 'i', 's') }, { noNullPrototype: true }),
);
const inner = fc.dictionary(fc.constantFrom('x', 'y'), fc.oneof(scalar, plain), {
  minKeys: 1,
  maxKeys: 2,
  noNullPrototype: true,
});
const element = fc.oneof(
  fc.record({ $elemMatch: plain }, { noNullPrototype: true }),
  fc.record({ $elemMatch: inner }, { noNullPrototype: true }),
  fc.record(
    {
      $elemMatch: fc.record(
        { $or: fc.array(inner, { minLength: 1, maxLength: 2 }) },
        { noNullPrototype: true },
      ),
    },
    { noNullPrototype: true },
  ),
);
const condition = fc.oneof(
  value,
  expression,
  { arbitrary: plain, weight: 6 },
  element,
  fc.record({ $all: fc.array(element, { minLength: 1, maxLength: 2 }) }, { noNullPrototype: true }),
  fc.record({ $not: fc.oneof(plain, element, expression) }, { noNullPrototype: true }),
);
const fields = fc.dictionary(field, condition, { minKeys: 1, maxKeys: 2, noNullPrototype: true });

/** Filters of all operators, as contract §4 allows them. */
const randomFilter: fc.Arbitrary<mongo.Document> = fc
  .letrec<{ filter: mongo.Document }>((tie) => ({
    filter: fc.oneof(
      { maxDepth: 2, depthSize: 'small' },
      { arbitrary: fields, weight: 3 },
      ...['$and', '$or', '$nor'].map((name) =>
        fc.record(
          { [name]: fc.array(tie('filter'), { minLength: 1, maxLength: 3 }) },
          { noNullPrototype: true },
        ),
      ),
    ),
  }))
  .filter.filter(isAllowed);

/** What is done to the filter in force. */
const CHANGES = {
  another: (_before: mongo.Document, other: mongo.Document) => other,
  narrower: (before: mongo.Document, other: mongo.Document) => ({ $and: [before, other] }),
  wider: (before: mongo.Document, other: mongo.Document) => ({ $or: [other, before] }),
  opposite: (before: mongo.Document) => ({ $nor: [before] }),
  folded: (before: mongo.Document) => ({ $and: [before] }),
  negatedTwice: (before: mongo.Document) => ({ $nor: [{ $nor: [before] }] }),
  reordered: (before: mongo.Document) => Object.fromEntries(Object.entries(before).reverse()),
} as const;

type Change = keyof typeof CHANGES;

/** These judge as the filter before did. */
const REWRITES: readonly Change[] = ['folded', 'negatedTwice', 'reordered'];

const NAMES = Object.keys(CHANGES) as Change[];
const randomChange = fc.record({
  change: fc.oneof(
    { arbitrary: fc.constant<Change>('another'), weight: 4 },
    fc.constantFrom<Change>(...NAMES),
  ),
  other: randomFilter,
});

/** Records, the filter of a service, and what is done to it, one change after the other. */
export interface Edits {
  records: mongo.Document[];
  first: mongo.Document;
  changes: { change: Change; other: mongo.Document }[];
}

/** The same for the same seed. */
export function randomEdits(seed: number, times: number, changes: number): Edits[] {
  const edits = fc.record({
    records: fc.array(storedRecord, { minLength: 1, maxLength: MOST_RECORDS, size: 'max' }),
    first: randomFilter,
    changes: fc.array(randomChange, { minLength: changes, maxLength: changes }),
  });
  return fc.sample(edits, { seed, numRuns: times });
}

/** The next filter; the other one where the changed one would not be allowed, such as too deep. */
export function changed(
  before: mongo.Document,
  { change, other }: Edits['changes'][number],
): { filter: mongo.Document; isRewrite: boolean } {
  const filter = CHANGES[change](before, other);
  if (!isAllowed(filter)) return { filter: other, isRewrite: false };
  return { filter, isRewrite: REWRITES.includes(change) };
}

/** As the service reads it: objects of Jest's own are none to code outside of it. */
function isAllowed(filter: mongo.Document): boolean {
  return filterFault(mongo.BSON.deserialize(mongo.BSON.serialize(filter))) === undefined;
}

/** The fields of a service, whose filter may name what they hide. */
export interface ChosenFields {
  fields: { only?: string[]; except?: string[] } | null;
  hash: string[] | null;
  allowHiddenFilter: true;
}

const path = fc.constantFrom(
  ...[
    'data.a',
    'data.b',
    'data.b.x',
    'data.n',
    'data.n.x',
    'data.n.y',
    'data.rows',
    'data.rows.x',
    'data.rows.y',
  ],
  ...['data.none', 'createdBy', 'channels'],
);
const paths = fc.uniqueArray(path, { maxLength: 5 });
const chosenFields: fc.Arbitrary<ChosenFields> = fc
  .record({
    fields: fc.oneof(
      paths.map((only) => ({ only })),
      paths.map((except) => ({ except })),
      fc.constant(null),
    ),
    hash: fc.oneof(fc.uniqueArray(path, { maxLength: 3 }), fc.constant(null)),
    allowHiddenFilter: fc.constant(true as const),
  })
  .filter((chosen) => shownFieldsFault(chosen) === undefined);

/** Fields at random, the same for the same seed. */
export function randomFields(seed: number, count: number): ChosenFields[] {
  return fc.sample(chosenFields, { seed, numRuns: count });
}
