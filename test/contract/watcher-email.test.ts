import type { mongo } from 'mongoose';
import { expectProblem, type Stored, type TestApplication, TestService } from '../support/index.js';

let service: TestService;
let app: TestApplication;

beforeAll(async () => {
  service = await TestService.start();
});
beforeEach(async () => {
  app = await service.application();
});
afterAll(() => service.stop());

const members = () => service.db.collection('members');
const withEmail = (email: unknown) => app.member({ data: { accountnumber: '1', email } });
const record = ({ _id }: Stored) => members().findOne({ _id });
const emailOf = (email: unknown) => ({ $set: { 'data.email': email } });
const create = (email: string) =>
  app.send('POST', 'api/v0.1/member', { body: { accountnumber: '1', email } });

async function keysOf(...wanted: Stored[]): Promise<unknown[]> {
  await service.watcher.caughtUp();
  const found = await Promise.all(wanted.map(record));
  return found.map((one) => one?.['emailkey'] as unknown);
}

async function change(member: Stored, update: mongo.Document): Promise<void> {
  await app.change('member', member, update);
  await service.watcher.caughtUp();
}

const duplicates = () => service.db.collection('tidemark.emailduplicates').find(app.tenant).toArray();

describe('the watcher adds `emailkey` where it is missing', () => {
  it('lower-cased and trimmed, and nothing else changes', async () => {
    const member = await withEmail('  Ann.Example@EXAMPLE.com ');
    expect(await keysOf(member)).toEqual(['ann.example@example.com']);
    expect(await record(member)).toEqual({ ...member, emailkey: 'ann.example@example.com' });
  });

  it('where another program takes it away', async () => {
    const member = await withEmail('a@example.com');
    await keysOf(member);
    await change(member, { $unset: { emailkey: '' } });
    expect(await keysOf(member)).toEqual(['a@example.com']);
  });

  it.each([
    ['no text', 5],
    ['blanks', '   '],
    ['null', null],
    ['a list', ['a@example.com']],
  ])('not where the e-mail is %s', async (_name, email) => {
    const member = await withEmail(email);
    await keysOf(member);
    expect(await record(member)).toEqual(member);
  });

  it('from then on `POST /member` with that e-mail answers 409 `email-conflict`', async () => {
    await withEmail('Taken@example.com');
    await service.watcher.caughtUp();
    expectProblem(await create(' taken@EXAMPLE.com'), 409, 'email-conflict');
  });
});

describe('and corrects it where it no longer fits `data.email`', () => {
  it('the e-mail changes', async () => {
    const member = await withEmail('old@example.com');
    await keysOf(member);
    await change(member, emailOf('New@example.com'));
    expect(await keysOf(member)).toEqual(['new@example.com']);
    expect((await create('old@example.com')).status).toBe(201);
    expectProblem(await create('new@example.com'), 409, 'email-conflict');
  });

  it.each<[string, mongo.Document]>([
    ['goes', { $unset: { 'data.email': '' } }],
    ['becomes null', emailOf(null)],
    ['becomes a number', emailOf(5)],
    ['becomes empty', emailOf('')],
    ['becomes a list', emailOf(['old@example.com'])],
    ['goes with all of `data`', { $unset: { data: '' } }],
  ])('the e-mail %s', async (_name, update) => {
    const member = await withEmail('old@example.com');
    await keysOf(member);
    await change(member, update);
    expect(await record(member)).not.toHaveProperty('emailkey');
    expect((await create('old@example.com')).status).toBe(201);
  });

  it.each<[string, unknown]>([
    ['another text', 'wrong@example.com'],
    ['a number', 5],
    ['a list', ['mine@example.com']],
  ])('the key is %s', async (_name, emailkey) => {
    const member = await withEmail('mine@example.com');
    await keysOf(member);
    await change(member, { $set: { emailkey } });
    expect(await keysOf(member)).toEqual(['mine@example.com']);
  });

  it('and moves no `lastupdated`', async () => {
    const member = await withEmail('still@example.com');
    await keysOf(member);
    await change(member, emailOf('moved@example.com'));
    expect((await record(member))?.['lastupdated']).toEqual(member['lastupdated']);
  });
});

describe('Duplicates that others made stay', () => {
  const pair = async () => {
    const first = await withEmail('same@example.com');
    await service.watcher.caughtUp();
    return [first, await withEmail('SAME@example.com')] as const;
  };

  it('as they are, and are listed in `emailduplicates`', async () => {
    const [first, second] = await pair();
    expect(await keysOf(first, second)).toEqual(['same@example.com', undefined]);
    expect(await record(second)).toEqual(second);
    expect(await duplicates()).toMatchObject([
      { _id: second._id, ...app.tenant, emailkey: 'same@example.com' },
    ]);
    expect((await app.feed('member').page()).ids).toEqual([first['id'], second['id']]);
  });

  it('and get the key when the first one is deleted', async () => {
    const [first, second] = await pair();
    await app.remove('member', first);
    expect(await keysOf(second)).toEqual(['same@example.com']);
    expect(await duplicates()).toEqual([]);
  });

  it('or changes its e-mail', async () => {
    const [first, second] = await pair();
    await change(first, emailOf('other@example.com'));
    expect(await keysOf(first, second)).toEqual(['other@example.com', 'same@example.com']);
    expect(await duplicates()).toEqual([]);
  });

  it('are none any more when the second one changes its e-mail', async () => {
    const [first, second] = await pair();
    await change(second, emailOf('second@example.com'));
    expect(await keysOf(first, second)).toEqual(['same@example.com', 'second@example.com']);
    expect(await duplicates()).toEqual([]);
  });

  it('or is deleted, or loses its e-mail', async () => {
    const [, second] = await pair();
    const third = await withEmail('same@example.com');
    await service.watcher.caughtUp();
    expect(await duplicates()).toHaveLength(2);
    await app.remove('member', second);
    await change(third, { $unset: { 'data.email': '' } });
    expect(await duplicates()).toEqual([]);
  });

  it('three of them: one after the other gets the key', async () => {
    const [first, second] = await pair();
    const third = await withEmail('same@example.com');
    await service.watcher.caughtUp();
    await app.remove('member', first);
    expect((await keysOf(second, third)).filter(Boolean)).toEqual(['same@example.com']);
    expect(await duplicates()).toHaveLength(1);
    await app.remove('member', second);
    expect(await keysOf(third)).toEqual(['same@example.com']);
    expect(await duplicates()).toEqual([]);
  });

  it('a member that takes the e-mail of another gives its own free', async () => {
    const [first, mover] = [await withEmail('first@example.com'), await withEmail('mover@example.com')];
    await keysOf(first, mover);
    await change(mover, emailOf('first@example.com'));
    expect(await keysOf(first, mover)).toEqual(['first@example.com', undefined]);
    expect((await create('mover@example.com')).status).toBe(201);
  });

  it('two members that swap their e-mails are no duplicates', async () => {
    const [one, other] = [await withEmail('one@example.com'), await withEmail('other@example.com')];
    await keysOf(one, other);
    await members().bulkWrite([
      { updateOne: { filter: { _id: one._id }, update: emailOf('other@example.com') } },
      { updateOne: { filter: { _id: other._id }, update: emailOf('one@example.com') } },
    ]);
    await service.watcher.caughtUp();
    expect(await keysOf(one, other)).toEqual(['other@example.com', 'one@example.com']);
    expect(await duplicates()).toEqual([]);
  });

  it('a member that gives up one e-mail for another that is wanted too: both are held, whoever waits', async () => {
    const [first, second] = await pair();
    const third = await withEmail('third@example.com');
    await keysOf(first, second, third);
    await service.client.withSession((session) =>
      session.withTransaction(async () => {
        for (const { _id } of [first, third])
          await members().updateOne({ _id }, emailOf('new@example.com'), { session });
      }),
    );
    expect(await keysOf(first, second, third)).toEqual(['new@example.com', 'same@example.com', undefined]);
    await app.remove('member', first);
    expect(await keysOf(second, third)).toEqual(['same@example.com', 'new@example.com']);
    expect(await duplicates()).toEqual([]);
  });

  it('the same e-mail in another application is no duplicate', async () => {
    const other = await service.application();
    const theirs = await other.member({ data: { email: 'mine@example.com' } });
    const mine = await withEmail('mine@example.com');
    expect(await keysOf(mine, theirs)).toEqual(['mine@example.com', 'mine@example.com']);
  });

  it('also those that the first pass finds', async () => {
    const data = { email: 'twin@example.com' };
    const tenant = { organizationid: 'acme', appid: 'shop' };
    const late = await TestService.start({}, (db) =>
      db.collection('members').insertMany([1, 2].map((n) => ({ ...tenant, id: `twin-${n}`, data }))),
    );
    const listed = await late.db.collection('tidemark.emailduplicates').find().toArray();
    expect(listed).toMatchObject([{ ...tenant, emailkey: 'twin@example.com' }]);
    await late.stop();
  });
});

describe('a member that waits for an e-mail in one application moves to another, where it waits too', () => {
  it.each<[string, (mover: Stored, other: TestApplication) => Promise<unknown>]>([
    ['alone', (mover, other) => app.change('member', mover, { $set: other.tenant })],
    [
      'and its e-mail changes there',
      async (mover, other) => {
        await app.change('member', mover, { $set: other.tenant });
        await service.watcher.caughtUp();
        await app.change('member', mover, emailOf('b@example.com'));
      },
    ],
  ])('%s: who waits after it gets the e-mail when it is free', async (_name, move) => {
    const other = await service.application({ organizationid: app.organizationid });
    for (const email of ['a@example.com', 'b@example.com'])
      await other.member({ data: { accountnumber: '1', email } });
    const holder = await withEmail('a@example.com');
    expect(await keysOf(holder)).toEqual(['a@example.com']);
    const mover = await withEmail('a@example.com');
    expect(await keysOf(mover)).toEqual([undefined]);
    const next = await withEmail('a@example.com');
    expect(await keysOf(next)).toEqual([undefined]);
    await move(mover, other);
    await service.watcher.caughtUp();
    await app.remove('member', holder);
    expect(await keysOf(next, mover)).toEqual(['a@example.com', undefined]);
    expectProblem(await create('a@example.com'), 409, 'email-conflict');
  });
});
