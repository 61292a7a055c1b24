/** @depends-on-server */
import type { mongo } from 'mongoose';
import { expectProblem, type TestApplication, TestService } from '../support/index.js';
import { AdminConsole } from './admin-console.js';
import { newEmail, MemberClient, slugOf } from './member-client.js';
import { commandsDuring, nameOf, type Profiled } from './profiler.js';

const UNIQUE = 'organizationid_1_appid_1_id_1';
const OPTIONS = { unique: true, partialFilterExpression: { id: { $type: 'string' } } } as const;
const KEYS = [
  { organizationid: 1, appid: 1, id: 1 },
  { organizationid: 1, appid: 1, emailkey: 1 },
  { organizationid: 1, appid: 1, _id: 1 },
] as const;

let service: TestService;
let app: TestApplication;
let members: MemberClient;
let admin: AdminConsole;

beforeEach(async () => {
  service = await TestService.start();
  app = await service.application();
  members = new MemberClient(app);
  admin = new AdminConsole(service.uri);
});
afterEach(() => service.stop());

const words = (command: string, kind: string, more: string) =>
  `${command} --org ${app.organizationid} --app ${app.appid} --kind ${kind} ${more}`;
const stateOf = async (id: string) =>
  (await admin.json<{ state: string }>(words('record show', 'member', `--id ${id}`))).state;

/** Everything that asks for records by `id`, e-mail or `_id`: each answer is what it is without the indexes of others. */
async function expectAllFound(): Promise<void> {
  const email = newEmail();
  const anna = await members.born({ email });
  expect((await members.read(anna)).status).toBe(200);
  expect((await members.patch(anna, { contactname: 'Anna' })).status).toBe(200);
  expect(slugOf(await members.create({ accountnumber: '1', email }))).toBe('email-conflict');
  const twin = await app.member({ data: { accountnumber: '1', email } });
  await app.member({ id: 9, data: { accountnumber: '2', email: newEmail() } });
  await service.watcher.caughtUp();
  expect((await members.collection.findOne({ _id: twin._id }))?.['emailkey']).toBeUndefined();
  expect((await members.read('9')).status).toBe(200);
  expect([await stateOf(anna), await stateOf('9')]).toEqual(['alive', 'alive']);
  for (const id of [anna, '9']) {
    await admin.json(words('record delete', 'member', `--id ${id}`));
    expectProblem(await members.read(id), 404, 'unknown-member');
  }
  await service.watcher.caughtUp();
  expect([await stateOf(anna), await stateOf('9')]).toEqual(['gone', 'gone']);
}

const HINTED = new Set(['find members', 'aggregate members', 'remove members', 'delete members']);

/** Reads of members that leave the choice of an index to the planner; not those of the tests themselves. */
function unstated(commands: Profiled[]): unknown[] {
  const asksFor = ({ command }: Profiled) =>
    JSON.stringify(command['filter'] ?? command['q'] ?? command['pipeline']?.[0] ?? {});
  return commands
    .filter((one) => HINTED.has(nameOf(one)) && asksFor(one).includes('organizationid'))
    .filter(({ command }) => command['hint'] === undefined)
    .map((one) => [nameOf(one), asksFor(one)]);
}

it.each<[string, mongo.CreateIndexesOptions]>([
  ['sparse', { sparse: true }],
  ['partial', { partialFilterExpression: { 'data.theirs': true } }],
  ['with a collation', { collation: { locale: 'en', strength: 2 } }],
])(
  'reads of single members name their index, and a second one over the same fields changes no answer: %s',
  async (_name, options) => {
    for (const [count, key] of KEYS.entries())
      await service.db.collection('members').createIndex(key, { ...options, name: `theirs ${count}` });
    const commands = await commandsDuring(service.db, expectAllFound);
    expect(unstated(commands)).toEqual([]);
  },
);

it('goes on while the index by `id` is exchanged, and where it cannot be made', async () => {
  const stored = service.db.collection('members');
  await expectAllFound();
  await stored.dropIndex(UNIQUE);
  await stored.createIndex(KEYS[0], { ...OPTIONS, name: 'theirs' });
  await expectAllFound();
  await stored.dropIndex('theirs');
  await stored.insertMany([1, 2].map(() => ({ organizationid: 'other', appid: 'other', id: 'twice' })));
  await expectAllFound();
  expect(await stored.indexExists(UNIQUE)).toBe(false);
});
