import { mongo } from 'mongoose';
import type { Preview } from '../../src/administration/index.js';
import { type Answer, send, type TestApplication, TestService } from '../support/index.js';
import { changed, type ChosenFields, randomEdits, randomFields } from './random-edits.js';

/** `TIDEMARK_TEST_EDITS=1000` for more, a multiple of ten; others with another `TIDEMARK_TEST_SEED`. */
const EDITS = Number(process.env['TIDEMARK_TEST_EDITS'] ?? 60);
const EDITS_OF_ONE = 10;
const SEED = Number(process.env['TIDEMARK_TEST_SEED'] ?? 1);
/** Milliseconds for one edit, however loaded the machine is. */
const EDIT_MS = 5000;
const SHOWN = 10;

/** A filter, and the fields that are shown of what it matches. */
interface Edit {
  filter: mongo.Document;
  fields?: ChosenFields | undefined;
}
const NO_FIELDS = { fields: null, hash: null };

let service: TestService;
let root: string;

beforeAll(async () => {
  service = await TestService.shared();
  const app = await service.application();
  root = await app.credential({ level: 'admin', scopes: [{ organizationid: '*', appid: '*' }] });
});

const asked = async (of: TestApplication, method: string, path: string, body: object): Promise<Answer> => {
  const url = `${service.url}/admin/v1/applications/${of.organizationid}/${of.appid}/${path}`;
  const answer = await send(url, method, { user: root, body });
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text} for ${JSON.stringify(body)}`);
  return answer;
};
const json = (filter: mongo.Document) => mongo.BSON.EJSON.serialize(filter, { relaxed: false }) as object;
const bodyOf = ({ filter, fields }: Edit) => ({ ...(fields ?? NO_FIELDS), filter: json(filter) });
const preview = async (of: TestApplication, edit: Edit) =>
  (await asked(of, 'POST', 'preview/product', { name: 'edited', ...bodyOf(edit) })).json as Preview;
const save = async (of: TestApplication, edit: Edit) => {
  await asked(of, 'PUT', 'services/product/edited', bodyOf(edit));
  await service.watcher.caughtUp();
};

/** What consumers of the service are told after an offset: who matches, who does not, and who of all. */
async function harvest(
  of: TestApplication,
  from: Date,
): Promise<Record<'updates' | 'gone' | 'all', string[]>> {
  const window = { from, to: await of.max('product') };
  const ids = (items: { id: string }[]) => items.map(({ id }) => id);
  return {
    updates: ids(await of.feed('product', 'edited').drain(window)),
    gone: ids(await of.softDeletes('product', 'edited').drain(window)),
    all: ids(await of.feed('product').drain(window)),
  };
}

/** Saves an edit, and expects that what its preview says is delivered, and nothing else. */
async function expectAgreement(of: TestApplication, edit: Edit): Promise<Preview> {
  const from = await of.max('product');
  const said = await preview(of, edit);
  await save(of, edit);
  const { updates, gone, all } = await harvest(of, from);
  const { entering, leaving, concerned, restamps, matching, others } = said;
  expect({ shown: updates.length, leaving: gone.length, restamps: all.length }).toEqual({
    ...{ shown: entering!.count! + concerned!.count!, leaving: leaving?.count, restamps },
  });
  if (concerned!.count === 0) expect(updates.slice(0, SHOWN)).toEqual(entering!.ids);
  expect(updates).toEqual(expect.arrayContaining([...entering!.ids, ...concerned!.ids]));
  expect(gone.slice(0, SHOWN)).toEqual(leaving?.ids);
  expect([...updates, ...gone].sort()).toEqual([...all].sort());
  const first = { to: await of.max('product') };
  expect((await of.feed('product', 'edited').drain(first)).length).toBe(matching.count);
  expect((await of.softDeletes('product', 'edited').drain(first)).length).toBe(others.count);
  return said;
}

async function applicationWith(records: mongo.Document[], filter: mongo.Document): Promise<TestApplication> {
  const app = await service.application();
  await app.products(records.length, (index) => ({
    id: `p${String(index).padStart(2, '0')}`,
    ...records[index],
  }));
  await save(app, { filter });
  return app;
}

describe('What the preview of a filter predicts and what is then delivered agree', () => {
  it(
    `in ${EDITS} random edits (TIDEMARK_TEST_SEED=${SEED})`,
    async () => {
      const moved: number[] = [];
      for (const { records, first, changes } of randomEdits(SEED, EDITS / EDITS_OF_ONE, EDITS_OF_ONE)) {
        const app = await applicationWith(records, first);
        let before = first;
        for (const change of changes) {
          const { filter, isRewrite } = changed(before, change);
          const { restamps } = await expectAgreement(app, { filter });
          expect({ filter, isRewrite, moves: restamps !== 0 }).not.toMatchObject({
            isRewrite: true,
            moves: true,
          });
          moved.push(restamps ?? 0);
          before = filter;
        }
      }
      expect(moved.length).toBe(EDITS);
      expect(moved.filter((count) => count > 0).length).toBeGreaterThan(EDITS / 5);
    },
    EDITS * EDIT_MS,
  );
});

describe('What the preview of a filter with fields predicts and what is then delivered agree', () => {
  it(
    `in ${EDITS} random edits (TIDEMARK_TEST_SEED=${SEED})`,
    async () => {
      const chosen = randomFields(SEED, EDITS);
      let concerned = 0;
      let turn = 0;
      for (const { records, first, changes } of randomEdits(SEED + 1, EDITS / EDITS_OF_ONE, EDITS_OF_ONE)) {
        const app = await applicationWith(records, first);
        let filter = first;
        for (const change of changes) {
          // Each second edit changes the fields alone.
          if (turn % 2 === 0) ({ filter } = changed(filter, change));
          const said = await expectAgreement(app, { filter, fields: chosen[turn] });
          concerned += said.concerned!.count!;
          turn += 1;
        }
      }
      expect(concerned).toBeGreaterThan(EDITS);
    },
    EDITS * EDIT_MS,
  );
});

describe('A rewrite that judges the same moves nothing', () => {
  let app: TestApplication;
  const before = { 'data.color': { $in: ['red', 'blue'] }, 'data.size': 5 };
  beforeAll(async () => {
    const colors = ['red', 'blue', 'green', ['red', 'green'], null];
    const records = colors.flatMap((color) => [5, [5, 6], '5'].map((size) => ({ data: { color, size } })));
    app = await applicationWith([...records, { data: {} }], before);
  });

  it.each<[string, mongo.Document]>([
    ['$in reordered', { 'data.color': { $in: ['blue', 'red'] }, 'data.size': 5 }],
    ['$in with a value twice', { 'data.color': { $in: ['blue', 'red', 'blue'] }, 'data.size': 5 }],
    ['$in as $or', { $or: [{ 'data.color': 'red' }, { 'data.color': 'blue' }], 'data.size': 5 }],
    ['a value as $eq', { 'data.color': { $in: ['red', 'blue'] }, 'data.size': { $eq: 5 } }],
    ['a value of another number type', { 'data.color': { $in: ['red', 'blue'] }, 'data.size': 5.0 }],
    ['fields reordered', { 'data.size': 5, 'data.color': { $in: ['red', 'blue'] } }],
    ['$and unfolded', { $and: [{ 'data.color': { $in: ['red', 'blue'] } }, { 'data.size': 5 }] }],
    ['$and in $and', { $and: [{ $and: [before] }, {}] }],
    ['$or of one', { $or: [before] }],
    ['what is not not so', { $nor: [{ $nor: [before] }] }],
    ['the same again', before],
  ])('%s', async (_name, filter) => {
    const said = await expectAgreement(app, { filter });
    expect([said.matching.count, said.restamps]).toEqual([6, 0]);
  });
});
