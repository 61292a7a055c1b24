import { mongo } from 'mongoose';
import {
  concernedBy,
  type ShownFields,
  shownFieldsFault,
  shownFieldsOf,
} from '../../src/application/index.js';
import { fieldMask, type ItemShape, itemsText } from '../../src/replication/transcode/index.js';
import { TestService } from '../support/index.js';
import { dice, type RandomValues } from '../unit/replication/transcode/random-records.js';

let service: TestService;
beforeAll(async () => {
  service = await TestService.start();
});
afterAll(() => service.stop());

const NAMES = ['a', 'b', 'c', 'd'];
const DOCUMENTS = 400;
const EDITS = 300;
const KEY = Buffer.alloc(32, 7);

/** Values with few names, so that most paths lead somewhere: documents, lists, and lists of lists. */
function randomValue(roll: RandomValues, depth: number): unknown {
  const kind = roll(depth > 2 ? 2 : 6);
  if (kind === 0) return null;
  if (kind < 3) return roll(3);
  if (kind === 3) return Array.from({ length: roll(3) }, () => randomValue(roll, depth + 1));
  return Object.fromEntries(
    NAMES.filter(() => roll(2) === 0).map((name) => [name, randomValue(roll, depth + 1)]),
  );
}

function randomDocument(roll: RandomValues): mongo.Document {
  const names = NAMES.filter(() => roll(2) === 0);
  return {
    _id: new mongo.ObjectId(),
    ...{ organizationid: 'acme', appid: 'shop', id: 'A', createdBy: 'erp', channels: [] },
    lastupdated: new Date(0),
    data: Object.fromEntries(names.map((name) => [name, randomValue(roll, 0)])),
  };
}

function randomFields(roll: RandomValues): ShownFields | undefined {
  const path = () => ['data', ...Array.from({ length: 1 + roll(3) }, () => NAMES[roll(4)]!)].join('.');
  const some = () => Array.from({ length: roll(4) }, path);
  const lists = [{}, { only: some() }, { except: some() }];
  const chosen = { fields: lists[roll(3)]!, ...(roll(3) === 0 && { hash: some() }) };
  return shownFieldsFault(chosen) === undefined ? shownFieldsOf(chosen) : undefined;
}

function itemOf(document: mongo.Document, fields: ShownFields | undefined): string {
  const mask = fields && fieldMask(fields, KEY);
  const shape: ItemShape = { item: 'update', kind: 'product', withPasswordHash: false, mask };
  const [portion] = [...itemsText(mongo.BSON.serialize({ 0: document }), shape)];
  return Buffer.concat([...portion!.pieces]).toString();
}

/** Whether a value has a field at the names, through lists, or a list of lists on the way there. */
function leadsTo(value: unknown, names: string[]): boolean {
  if (names.length === 0) return true;
  if (Array.isArray(value)) return value.some((one) => Array.isArray(one) || leadsTo(one, names));
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, names[0]!)) return false;
  return leadsTo((value as Record<string, unknown>)[names[0]!], names.slice(1));
}

describe('the records that an edit of fields concerns', () => {
  it('are all whose item changes, and none without a field that either names', async () => {
    const roll = dice(3);
    const documents = Array.from({ length: DOCUMENTS }, () => randomDocument(roll));
    const collection = service.db.collection('fields-concerned');
    await collection.insertMany(documents);
    const seen = { changed: 0, unchanged: 0, left: 0 };
    for (let edit = 0; edit < EDITS; edit += 1) {
      const [before, after] = [randomFields(roll), randomFields(roll)];
      const query = concernedBy({ before, after, isRekeyed: false });
      const found =
        query === undefined ? [] : await collection.find(query, { projection: { _id: 1 } }).toArray();
      const concerned = new Set(found.map(({ _id }) => _id.toHexString()));
      const paths = [before, after].flatMap((fields) => Object.values(fields ?? {}).flat() as string[]);
      const isTurned = (before?.only === undefined) !== (after?.only === undefined);
      for (const document of documents) {
        const isConcerned = concerned.has((document['_id'] as mongo.ObjectId).toHexString());
        const [was, becomes] = [itemOf(document, before), itemOf(document, after)];
        if (was !== becomes) {
          seen.changed += 1;
          if (!isConcerned) expect({ document, before, after }).toBe('concerned');
        } else if (isConcerned) {
          seen.unchanged += 1;
          const isNamed = paths.some((path) => leadsTo(document, path.split('.')));
          if (!isNamed && !isTurned) expect({ document, before, after }).toBe('left alone');
        } else seen.left += 1;
      }
    }
    expect(Math.min(seen.changed, seen.left)).toBeGreaterThan(10_000);
    expect(seen.unchanged).toBeLessThan(DOCUMENTS * EDITS * 0.01);
    await collection.drop();
  });
});
