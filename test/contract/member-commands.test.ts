import { type Answer, TestService, withoutWatcher } from '../support/index.js';
import { whileHeld } from './held-record.js';
import { itemOf, MemberClient, newEmail, slugOf } from './member-client.js';
import { commandsDuring, nameOf } from './profiler.js';

const READ = 'find members';
const WRITE = 'findAndModify members';

let service: TestService;
let members: MemberClient;
beforeAll(async () => {
  service = await TestService.start();
  members = new MemberClient(await service.application());
  await members.born();
});
afterAll(() => service.stop());

/**
 * Whom a request lets in is known as a rule, and read where the machine does much else; the audit trail is written once a
 * second, of whatever was written before.
 */
const BESIDE = / (tidemark\.(leases|audittrail)|system\.profile|\$cmd|credentials|applications)/;

/** What a request asked the database of members, while nobody else asks it anything. */
async function asked(request: () => Promise<Answer>): Promise<{ status: number; commands: string[] }> {
  let status = 0;
  let commands: string[] = [];
  await withoutWatcher(service, async () => {
    const seen = await commandsDuring(service.db, async () => ({ status } = await request()));
    commands = seen.map(nameOf).filter((name) => !BESIDE.test(name));
  });
  return { status, commands };
}

describe('how often the database is asked', () => {
  it('a create: once', async () => {
    const body = { accountnumber: '1', email: newEmail(), extrafields: { shop: { size: 'M' } } };
    expect(await asked(() => members.create(body))).toEqual({ status: 201, commands: [WRITE] });
  });

  it('a create whose e-mail is taken: once', async () => {
    const body = { accountnumber: '1', email: newEmail() };
    await members.create(body);
    expect(await asked(() => members.create(body))).toEqual({ status: 409, commands: [WRITE] });
  });

  it.each<[string, (id: string) => Promise<Answer>]>([
    ['a patch', (id) => members.patch(id, { contactname: 'Bea' })],
    ['a patch of the address', (id) => members.patchAddress(id, { city: 'Vienna' })],
  ])('%s: twice', async (_what, patch) => {
    const id = await members.born({ contactname: 'Ann' });
    expect(await asked(() => patch(id))).toEqual({ status: 200, commands: [READ, WRITE] });
  });

  it('a patch to an e-mail that is taken: twice', async () => {
    const { email } = itemOf(await members.read(await members.born())).data as { email: string };
    const id = await members.born();
    expect(await asked(() => members.patch(id, { email }))).toEqual({
      status: 409,
      commands: [READ, WRITE],
    });
  });

  it.each<[string, number, (id: string) => Promise<Answer>]>([
    ['a patch that changes nothing', 200, (id) => members.patch(id, { contactname: 'Ann' })],
    [
      'a patch of another version',
      412,
      (id) => members.patch(id, { contactname: 'Bea' }, { headers: { 'if-match': '"x"' } }),
    ],
    ['a patch of nobody', 404, () => members.patch('nobody', { contactname: 'Bea' })],
    ['a read', 200, (id) => members.read(id)],
  ])('%s: once', async (_what, status, request) => {
    const id = await members.born({ contactname: 'Ann' });
    expect(await asked(() => request(id))).toEqual({ status, commands: [READ] });
  });

  it('a patch of a member that somebody changes meanwhile: once more, to tell it from one that is gone', async () => {
    const id = await members.born({ contactname: 'Ann' });
    let answer: Answer | undefined;
    const { status, commands } = await asked(async () => {
      answer = await whileHeld(
        service.client,
        members.collection,
        (collection, options) =>
          collection.updateOne({ ...members.app.tenant, id }, { $set: { remark: 'x' } }, options),
        () => members.patch(id, { contactname: 'Bea' }),
      );
      return answer;
    });
    expect([status, answer && slugOf(answer)]).toEqual([409, 'member-modified']);
    const ours = commands.filter((name) => name !== 'update members');
    expect(ours).toEqual([READ, WRITE, READ]);
  });

  it('a body that is refused: not at all', async () => {
    expect(await asked(() => members.create({ email: 5 }))).toEqual({ status: 400, commands: [] });
  });
});

describe('no write waits for ever', () => {
  it('the service and the watcher wait for a majority, and for that 15 s at most', async () => {
    const seen = await commandsDuring(service.db, async () => {
      const id = await members.born();
      expect((await members.patch(id, { contactname: 'Bea' })).status).toBe(200);
      await service.watcher.caughtUp();
    });
    const writes = seen.filter((one) => ['insert tidemark.ledger', WRITE].includes(nameOf(one)));
    expect(new Set(writes.map(nameOf))).toEqual(new Set(['insert tidemark.ledger', WRITE]));
    for (const { command } of writes)
      expect(command['writeConcern']).toEqual({ w: 'majority', wtimeout: 15_000 });
  });
});
