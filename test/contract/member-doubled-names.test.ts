/** @depends-on-server */
import { mongo } from 'mongoose';
import { getModelToken } from '@nestjs/mongoose';
import type { Model } from 'mongoose';
import { PERSON_KIND } from '../../src/kinds/index.js';
import { modelOf } from '../../src/record/index.js';
import { type Answer, expectProblem, type TestApplication, TestService } from '../support/index.js';
import { type OwnMongod, startOwn } from '../support/own-mongod.js';
import { type HeldWrite, whileHeld } from './held-record.js';
import { slugOf } from './member-client.js';
import { rawDocument } from './raw-document.js';
import { insertRaw } from './raw-insert.js';

/** A doubled name can end mongod, so this file has one of its own. */
let mongod: OwnMongod;
let service: TestService;
let app: TestApplication;

beforeAll(async () => {
  mongod = await startOwn();
  process.env['TIDEMARK_TEST_MONGODB_URI'] = mongod.uri;
  service = await TestService.start();
});
beforeEach(async () => {
  app = await service.application();
});
afterAll(async () => {
  await service.stop();
  await mongod.stop();
});

const LONG_AGO = new Date('2001-01-01T00:00:00.000Z');

const member = async (id: string, data: [string, unknown][], more: [string, unknown][] = []) => {
  const _id = new mongo.ObjectId();
  const fields: [string, unknown][] = [
    ['_id', _id],
    ...Object.entries(app.tenant),
    ['id', id],
    ['lastupdated', LONG_AGO],
    ['data', rawDocument([['accountnumber', '1'], ...data])],
    ...more,
  ];
  await insertRaw(service.uri, 'members', rawDocument(fields));
  await service.watcher.caughtUp();
  return _id;
};
const twice = (name: string): [string, unknown][] => [
  [name, 'one'],
  [name, 'two'],
];

it('`GET` of a member shows what the feed shows: within `data`, both of a doubled name', async () => {
  const extrafields = rawDocument([['shop', rawDocument([...twice('size'), ['colour', 'red']])]]);
  const hash: [string, unknown] = ['passwordhash', 'secret'];
  await member(
    'shown',
    [hash, ...twice('contactname'), ['extrafields', extrafields], hash],
    [['id', 'other']],
  );
  const { text } = await app.send('GET', 'api/v0.1/member/shown');
  const { text: page } = await app.get('member/default/updates', { query: { to: new Date().toISOString() } });
  expect(text).toContain('"contactname":"one","contactname":"two"');
  expect(page).toContain(`[${text.trimEnd()}]`);
});

describe('PATCH of a member', () => {
  const patch = (id: string, body: object, headers: Record<string, string> = {}) =>
    app.send('PATCH', `api/v0.1/member/${id}`, { body, headers });
  const etagOf = async (id: string) =>
    (await app.send('GET', `api/v0.1/member/${id}`)).headers.get('etag') ?? '';

  it('sets a doubled name, which then stands once', async () => {
    const _id = await member('set', twice('contactname'));
    const answer = await patch('set', { contactname: 'Ann' });
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ data: { contactname: 'Ann' } });
    const stored = await service.db.collection('members').findOne({ _id }, { raw: true });
    const bytes = Buffer.from(stored as unknown as Uint8Array).toString('latin1');
    expect(bytes.split('contactname\0')).toHaveLength(2);
  });

  it.each(['one', 'two'])(
    'sets a doubled name to one of its own values, here %s: it then stands once',
    async (value) => {
      await member(`to-${value}`, twice('contactname'));
      const answer = await patch(`to-${value}`, { contactname: value });
      expect(answer.status).toBe(200);
      expect(answer.text.split('"contactname":')).toHaveLength(2);
      expect(answer.json).toMatchObject({ data: { contactname: value } });
      const again = await patch(`to-${value}`, { contactname: value });
      expect(again.text).toBe(answer.text);
    },
  );

  it.each(['one', 'two'])(
    'sets a doubled e-mail to one of its own values, here %s, and its key',
    async (value) => {
      const stored = ['one', 'two'].map((name): [string, unknown] => ['email', `${name}@example.org`]);
      const _id = await member(`mail-${value}`, stored);
      const email = `${value}@example.org`;
      expect((await patch(`mail-${value}`, { email })).status).toBe(200);
      expect(await service.db.collection('members').findOne({ _id })).toMatchObject({ emailkey: email });
    },
  );

  it('409 email-conflict if another member has the last of a doubled e-mail', async () => {
    const stored = ['one', 'two'].map((name): [string, unknown] => ['email', `${name}@example.org`]);
    await member('first', stored);
    await member('second', stored.slice(1));
    const answer = await patch('first', { email: 'two@example.org' });
    expect([answer.status, slugOf(answer)]).toEqual([409, 'email-conflict']);
  });

  it('deletes a doubled name', async () => {
    await member('delete', twice('contactname'));
    const answer = await patch('delete', { contactname: null });
    expect(answer.status).toBe(200);
    expect((answer.json as { data: object }).data).not.toHaveProperty('contactname');
  });

  it('of another name leaves the doubled one as it is', async () => {
    await member('other', twice('odd'));
    expect((await patch('other', { contactname: 'Ann' })).status).toBe(200);
  });

  it('changes nothing if another program has doubled the key of the e-mail since the member was read', async () => {
    const mail = 'moment@example.org';
    const _id = await member('moment', [['email', mail], ...twice('contactname')], [['emailkey', mail]]);
    const members = service.db.collection('members');
    const bytes = async () => Buffer.from((await members.findOne({ _id }, { raw: true })) as never);
    const doubleKey = async () => {
      const key = rawDocument([['emailkey', mail]]).subarray(4, -1);
      const doubled = Buffer.concat([(await bytes()).subarray(0, -1), key, Buffer.of(0)]);
      doubled.writeInt32LE(doubled.length);
      await members.deleteOne({ _id });
      await insertRaw(service.uri, 'members', doubled);
    };
    const { collection } = service.app.get<Model<unknown>>(getModelToken(modelOf(PERSON_KIND)), {
      strict: false,
    });
    const find = collection.findOne.bind(collection) as (...asked: unknown[]) => Promise<never>;
    let isMeanwhile = false;
    const finds = jest.spyOn(collection, 'findOne').mockImplementation(async (...asked: unknown[]) => {
      const { session } = (asked[1] ?? {}) as mongo.FindOptions;
      if (session !== undefined && !isMeanwhile) {
        isMeanwhile = true;
        await doubleKey();
      }
      return find(...asked);
    });
    const answer = await patch('moment', { contactname: 'Ann', email: 'new@example.org' });
    finds.mockRestore();
    expect([isMeanwhile, answer.status, slugOf(answer)]).toEqual([true, 409, 'member-modified']);
    expect((await bytes()).toString('latin1').split('contactname\0')).toHaveLength(3);
  });

  it('of the e-mail sets a doubled key, although the second of them is that of another member', async () => {
    await member('holder', [['email', 'held@example.org']]);
    const keys = ['keyed@example.org', 'held@example.org'].map((key): [string, unknown] => ['emailkey', key]);
    const _id = await member('keyed', [['email', 'keyed@example.org']], keys);
    expect((await patch('keyed', { contactname: 'Ann' })).status).toBe(200);
    const answer = await patch('keyed', { email: 'new@example.org' });
    expect([answer.status, answer.json]).toEqual([
      200,
      expect.objectContaining({
        data: { accountnumber: '1', email: 'new@example.org', contactname: 'Ann' },
      }),
    ]);
    expect(answer.headers.get('etag')).toBe(await etagOf('keyed'));
    const byKey = (emailkey: string) =>
      service.db.collection('members').findOne({ ...app.tenant, emailkey }, { projection: { _id: 1 } });
    expect(await byKey('new@example.org')).toEqual({ _id });
    const taken = await patch('keyed', { email: 'held@example.org' });
    expect([taken.status, slugOf(taken)]).toEqual([409, 'email-conflict']);
    expect(await byKey('new@example.org')).toEqual({ _id });
  });

  it('moves a doubled `lastupdated`, and loses nothing', async () => {
    await member('stamp', [['contactname', 'Eve']], [['lastupdated', LONG_AGO]]);
    const answer = await patch('stamp', { contactname: 'Ann' });
    expect(answer.status).toBe(200);
    expect(new Date((answer.json as { lastupdated: string }).lastupdated).getTime()).toBeGreaterThan(
      LONG_AGO.getTime(),
    );
  });

  it.each<[string, object]>([
    ['data.extrafields', { extrafields: { shoes: { size: '7' } } }],
    ['data.extrafields.shoes', { extrafields: { shoes: { size: '7' } } }],
  ])('of something in a doubled %s: 400 that names it', async (name, body) => {
    const shoes: [string, unknown] = ['shoes', rawDocument([['size', '6']])];
    const data: [string, unknown][] = name.endsWith('shoes')
      ? [['extrafields', rawDocument([shoes, shoes])]]
      : [
          ['extrafields', rawDocument([shoes])],
          ['extrafields', rawDocument([shoes])],
        ];
    await member(name, data);
    const answer = await patch(name, body);
    const { errors } = expectProblem(answer, 400, 'invalid-request');
    expect(errors?.[0]?.detail).toContain(`"${name}" 2 times`);
  });

  describe('409 member-modified: another write changed the member between this request’s read and its write', () => {
    const set =
      (_id: mongo.ObjectId, fields: object): HeldWrite =>
      (collection, options) =>
        collection.updateOne({ _id }, { $set: fields }, options);
    const transactionsInConflict = async () =>
      ((await service.db.admin().serverStatus()) as { transactions: { totalAborted: number } }).transactions
        .totalAborted;
    const meanwhile = async (write: HeldWrite, ask: () => Promise<Answer>) => {
      const before = await transactionsInConflict();
      const isWaiting = async () => (await transactionsInConflict()) > before;
      return whileHeld(service.client, service.db.collection('members'), write, ask, isWaiting);
    };
    /** As MongoDB reads it: of a doubled name, the first value. */
    const dataOf = (_id: mongo.ObjectId) => {
      const projection = { _id: 0, contactname: '$data.contactname', elevel: '$data.elevel' };
      return service.db.collection('members').findOne({ _id }, { projection });
    };

    it.each<[string, object, object]>([
      ['the doubled name', { 'data.contactname': 'Bea' }, { contactname: 'Bea' }],
      ['another property', { 'data.elevel': 7 }, { elevel: 7 }],
    ])('with If-Match, where the other write sets %s', async (what, fields, stored) => {
      const _id = await member(what, twice('contactname'));
      const headers = { 'if-match': await etagOf(what) };
      const ask = () => patch(what, { contactname: 'Ann' }, headers);
      const answer = await meanwhile(set(_id, fields), ask);
      expect([answer.status, slugOf(answer)]).toEqual([409, 'member-modified']);
      expect(await dataOf(_id)).toMatchObject(stored);
      expect(await dataOf(_id)).not.toMatchObject({ contactname: 'Ann' });
    });

    it('without If-Match', async () => {
      const _id = await member('free', twice('contactname'));
      const ask = () => patch('free', { contactname: 'Ann' });
      const answer = await meanwhile(set(_id, { 'data.contactname': 'Bea' }), ask);
      expect([answer.status, slugOf(answer)]).toEqual([409, 'member-modified']);
      expect(await dataOf(_id)).toMatchObject({ contactname: 'Bea' });
      expect((await patch('free', { contactname: 'Ann' })).status).toBe(200);
    });

    it('404 where the member was deleted', async () => {
      const _id = await member('gone', twice('contactname'));
      const remove: HeldWrite = (collection, options) => collection.deleteOne({ _id }, options);
      const answer = await meanwhile(remove, () => patch('gone', { contactname: 'Ann' }));
      expect([answer.status, slugOf(answer)]).toEqual([404, 'unknown-member']);
    });
  });

  it.each(['contactname', 'lastupdated'])(
    'with If-Match: what the patch itself makes single, here %s, is no change',
    async (name) => {
      const stamp: [string, unknown] = ['lastupdated', LONG_AGO];
      const [data, more] = name === 'lastupdated' ? [[], [stamp]] : [twice(name), []];
      await member(name, data, more);
      const old = await etagOf(name);
      const answer = await patch(name, { contactname: 'Ann' }, { 'if-match': old });
      expect([answer.status, answer.headers.get('etag')]).toEqual([200, await etagOf(name)]);
      const again = await patch(name, { contactname: 'Eve' }, { 'if-match': old });
      expect([again.status, slugOf(again)]).toEqual([412, 'precondition-failed']);
    },
  );

  it('that a validator refuses: nothing is stored', async () => {
    await member('refused', twice('contactname'));
    const before = await etagOf('refused');
    const validator = { 'data.contactname': { $ne: 'Ann' } };
    await service.db.command({ collMod: 'members', validator });
    try {
      expectProblem(await patch('refused', { contactname: 'Ann' }), 400, 'refused-by-validator');
      expect(await etagOf('refused')).toBe(before);
    } finally {
      await service.db.command({ collMod: 'members', validator: {} });
    }
  });
});
