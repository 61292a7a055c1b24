import { mongo } from 'mongoose';
import { TrailNotes } from '../../src/trail/index.js';
import {
  eventually,
  expectProblem,
  type TestApplication,
  TestService,
  withoutWatcher,
} from '../support/index.js';
import { onceServed } from '../support/patience.js';
import { ErasureOperator } from './erasure-operator.js';

let service: TestService;
let app: TestApplication;
let operator: ErasureOperator;

beforeAll(async () => {
  service = await TestService.start();
});
beforeEach(async () => {
  app = await service.application();
  operator = new ErasureOperator(app);
});
afterAll(() => service.stop());

const quarantine = () => service.db.collection<{ _id: object }>('tidemark.quarantine');

/** The collections of the database that hold one of these texts, in the bytes of a document or of a key. */
async function holding(texts: string[]): Promise<string[]> {
  const found = new Set<string>();
  for (const { name } of await service.db.listCollections().toArray()) {
    const documents = service.db
      .collection(name)
      .find({}, { raw: true }) as unknown as AsyncIterable<Uint8Array>;
    for await (const bytes of documents)
      if (texts.some((text) => Buffer.from(bytes).toString().includes(text))) found.add(name);
  }
  return [...found].sort();
}

/** Everything that a member can hold, each with a word of its own. */
const CANARIES = {
  accountnumber: 'canary-account',
  email: 'Canary.Mail@example.org',
  contactname: 'Canary Name',
  passwordhash: 'canary-password-hash',
  channels: ['canary-channel'],
  extrafields: { 'canary-section': { 'canary-property': 'canary-value' } },
};
const ADDRESS = { address: 'Canary Street 1', zipcode: 'canary-zip', city: 'Canary City' };
const WORDS = ['anary'];

/** The member with all of them, as the service and other programs write it. */
async function fullMember(): Promise<{ id: string; _id: mongo.ObjectId }> {
  const created = await app.send('POST', 'api/v0.1/member', { body: CANARIES });
  const { id } = created.json as { id: string };
  await app.send('PATCH', `api/v0.1/member/${id}/address`, { body: ADDRESS });
  const extrafields = { 'canary-later': { 'canary-flag': true } };
  await app.send('PATCH', `api/v0.1/member/${id}`, { body: { extrafields } });
  await service.watcher.caughtUp();
  await app.max('member');
  const nested = { $set: { 'data.more': [{ deep: { text: 'canary-nested' } }], 'canary-root': 'canary' } };
  await service.db.collection('members').updateOne({ ...app.tenant, id }, nested);
  await service.watcher.caughtUp();
  await service.app.get(TrailNotes, { strict: false }).flush();
  const { _id } = (await service.db.collection('members').findOne({ ...app.tenant, id }))!;
  return { id, _id };
}

/** A quarantine entry of another program's record: its failure quotes values, and it is due in an hour. */
function setAside(owner: mongo.ObjectId, more: object) {
  return {
    ...{ _id: { what: 'record', kind: 'member', owner }, entry: new mongo.ObjectId() },
    ...{ since: new Date(), events: 1, tries: 12, due: new Date(Date.now() + 3_600_000) },
    reason: 'E11000 duplicate key error: { emailkey: "canary.mail@example.org" }',
    ...more,
  };
}

describe('nothing is left of an erased member but its hard delete', () => {
  it('in no collection of the database', async () => {
    const { id, _id } = await fullMember();
    const holder = await app.member({ id: 'holder', data: { email: 'second@canary.example' } });
    await service.watcher.caughtUp();
    await app.member({ id: 'waiting', data: { email: 'second@canary.example' } });
    await service.watcher.caughtUp();
    const identity = { ...app.tenant, kind: 'member', id };
    await quarantine().insertMany([
      setAside(_id, { known: { ...app.tenant, id, learned: '' }, identities: [identity] }),
      setAside(new mongo.ObjectId(), { identities: [identity] }),
    ]);
    const owner = new mongo.ObjectId();
    const key = { kind: 'member', owner, ...app.tenant };
    await service.db
      .collection<mongo.Document & { _id: object }>('tidemark.incompleteidentities')
      .insertOne({ _id: key, ...app.tenant, id, isNumber: true, learned: '' });
    // The leader may have taken a sample before the last change. Without one, the request takes it.
    await service.db.collection('tidemark.schemas').deleteMany({});
    expect((await onceServed(() => app.get('member/default/schema'))).status).toBe(200);
    expect(await holding(WORDS)).toEqual([
      ...['members', 'tidemark.audittrail', 'tidemark.emailduplicates', 'tidemark.emailholders'],
      ...['tidemark.quarantine', 'tidemark.schemas'],
    ]);
    expect(await holding([id])).toEqual([
      ...['members', 'tidemark.audittrail', 'tidemark.incompleteidentities', 'tidemark.ledger'],
      'tidemark.quarantine',
    ]);
    const restamps = service.db.collection('tidemark.restamps');
    await eventually(async () => (await restamps.countDocuments({ ids: _id })) > 0);

    const { code, output } = await operator.run(['record', 'erase', '--kind', 'member', '--id', id]);
    expect(code).toBe(0);
    expect(output).toContain(`The member "${id}" of ${app.organizationid}/${app.appid} is erased. Receipt `);
    for (const other of ['holder', 'waiting']) await operator.erase('member', other);

    expect(await holding(WORDS)).toEqual([]);
    expect(await holding([id])).toEqual(['tidemark.ledger']);
    expect(await restamps.countDocuments({ ids: { $in: [_id, holder._id] } })).toBe(0);
    expect(await quarantine().countDocuments()).toBe(0);
    expect((await app.hardDeletes('member').page()).ids.sort()).toEqual([id, 'holder', 'waiting'].sort());
  });

  it('nor in what an instance writes about it a second later', async () => {
    const { id } = await fullMember();
    await app.send('PATCH', `api/v0.1/member/${id}`, { body: { contactname: 'Canary Later' } });
    const words = ['record', 'erase', '--kind', 'member', '--id', id, '--wait', '1'];
    await eventually(async () => (await operator.run(words)).code === 0);
    await service.app.get(TrailNotes, { strict: false }).flush();
    expect(await holding([...WORDS, id])).toEqual(['tidemark.ledger']);
  });

  it('nor in its receipt, once the hard delete has expired', async () => {
    await app.member({ id: 'canary-expired' });
    await service.watcher.caughtUp();
    const receipt = await operator.erase('member', 'canary-expired');
    await service.db.collection('tidemark.ledger').deleteOne({ ...app.tenant, id: 'canary-expired' });
    expect(await operator.read(receipt)).toEqual({ ...receipt, id: null });
    expect(await holding(['canary-expired'])).toEqual([]);
  });
});

describe('`POST …/erasures`', () => {
  it('of a member that another program deleted cleans up, and continues the same receipt', async () => {
    const { id } = await fullMember();
    await service.db.collection('members').deleteOne({ ...app.tenant, id });
    await service.watcher.caughtUp();
    // As a term may leave them that was given up while it wrote.
    const late = { ...app.tenant, emailkey: 'canary.mail@example.org' };
    await service.db.collection('tidemark.emailduplicates').insertOne({ ...late });
    await service.db.collection('tidemark.emailholders').insertOne({ wanted: [late] });
    const left = await holding([...WORDS, id]);
    expect(left.filter((name) => name !== 'tidemark.schemas')).toEqual([
      ...['tidemark.audittrail', 'tidemark.emailduplicates', 'tidemark.emailholders', 'tidemark.ledger'],
    ]);
    const first = await operator.erase('member', id);
    expect(first).toMatchObject({ id, state: 'done', isUsedAgain: false, consumers: [] });
    expect(await holding([...WORDS, id])).toEqual(['tidemark.ledger']);
    expect((await operator.erase('member', id)).receipt).toBe(first.receipt);
    const entries = service.db
      .collection('tidemark.audittrail')
      .find({ action: 'record.erase', ...app.tenant });
    expect((await entries.toArray()).map(({ target }) => target as string)).toEqual(
      Array<string>(2).fill(`member, erased: receipt ${first.receipt}`),
    );
  });

  it('of an `id` that several records claim, as text and as number, erases them all', async () => {
    await app.product({ id: 17 });
    await service.watcher.caughtUp();
    await app.product({ id: 17 });
    await service.watcher.caughtUp();
    await app.product({ id: '17' });
    await service.watcher.caughtUp();
    expect(await operator.erase('product', '17')).toMatchObject({ state: 'done', isUsedAgain: false });
    expect(await service.db.collection('products').countDocuments(app.tenant)).toBe(0);
    expect((await app.feed('product').page()).ids).toEqual([]);
    expect((await app.hardDeletes('product').page()).ids).toEqual(['17']);
  });

  it('of an `id` that was never known is 404, and deletes nothing', async () => {
    await app.member({ id: 'kept' });
    await service.watcher.caughtUp();
    const answer = await operator.ask('POST', '', { body: { kind: 'member', id: 'Kept' } });
    expect(expectProblem(answer, 404, 'unknown-record').detail).toBe(
      `There is no member "Kept" in ${app.organizationid}/${app.appid}, and no trace of one is left.`,
    );
    expect((await app.feed('member').page()).ids).toEqual(['kept']);
    expect((await operator.ask('GET')).json).toEqual({ result: [], next: '' });
  });

  it.each<[string, object, string, string]>([
    ['no id', { kind: 'member' }, '/id', 'is missing.'],
    ['an empty id', { kind: 'member', id: '' }, '/id', 'is empty. Send the id of a record, as in the feeds.'],
    [
      'another type',
      { kind: 'member', id: 7 },
      '/id',
      'is not a string, such as "9d87ba58-a750-451b-85d0-0d4ad5659a24".',
    ],
    ['an unknown kind', { kind: 'order', id: 'kept' }, '/kind', 'is not one of member, product.'],
    [
      'an unknown property',
      { kind: 'member', id: 'kept', ids: [] },
      '/ids',
      'is an unknown property. Known properties: kind, id.',
    ],
  ])('with %s is 400, and deletes nothing', async (_name, body, pointer, detail) => {
    await app.member({ id: 'kept' });
    const { errors } = expectProblem(await operator.ask('POST', '', { body }), 400, 'invalid-request');
    expect(errors).toEqual([{ pointer, detail }]);
    expect(await service.db.collection('members').countDocuments(app.tenant)).toBe(1);
  });

  it('needs a credential of level admin that covers the application', async () => {
    await app.member({ id: 'kept' });
    const body = { kind: 'member', id: 'kept' };
    const stranger = (await service.application()).user('admin');
    expectProblem(await operator.ask('POST', '', { body, user: app.user('write') }), 403, 'level-missing');
    for (const method of ['POST', 'GET'])
      expectProblem(
        await operator.ask(method, '', { body: method === 'POST' ? body : undefined, user: stranger }),
        404,
        'unknown-application',
      );
    expect(await service.db.collection('members').countDocuments(app.tenant)).toBe(1);
  });
});

describe('`record erase`', () => {
  it('without a watcher deletes, and says that it has to be run again', async () => {
    const { id } = await fullMember();
    const words = ['record', 'erase', '--kind', 'member', '--id', id, '--wait'];
    await withoutWatcher(service, async () => {
      const { code, errors } = await operator.run([...words, '3']);
      expect([code, errors]).toEqual([
        3,
        [
          'The deletion is not processed yet, or the record is in quarantine. Erase it again while the service runs.',
        ],
      ]);
      expect(await holding([...WORDS, id])).toEqual(['tidemark.ledger']);
    });
    await service.watcher.caughtUp();
    expect((await operator.run([...words, '30'])).code).toBe(0);
    expect(await service.db.collection('tidemark.erasures').countDocuments(app.tenant)).toBe(1);
  });

  it.each([
    ['--wait', 'soon', '--wait "soon" is not a whole number of seconds from 0 to 3600, such as 30.'],
    ['--wait', '3601', '--wait "3601" is not a whole number of seconds from 0 to 3600, such as 30.'],
    ['--kind', 'order', '--kind "order" is not known. Choose member or product.'],
  ])('with %s "%s" is an error, and deletes nothing', async (option, value, sentence) => {
    await app.member({ id: 'kept' });
    const given = Object.entries({ '--kind': 'member', '--id': 'kept', [option]: value }).flat();
    const { code, errors } = await operator.run(['record', 'erase', ...given]);
    expect([code, errors]).toEqual([1, [sentence]]);
    expect(await service.db.collection('members').countDocuments(app.tenant)).toBe(1);
  });
});
