import { mongo } from 'mongoose';
import { TestService } from '../support/index.js';
import { itemOf, MemberClient, newEmail, pointersOf } from './member-client.js';
import { insertRaw } from './raw-insert.js';

const {
  Binary,
  BSON,
  BSONRegExp,
  Code,
  Decimal128,
  Double,
  Int32,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  Timestamp,
} = mongo;
const KEEP_TYPES = { promoteValues: false, bsonRegExp: true } as const;

let service: TestService;
let members: MemberClient;

beforeAll(async () => {
  service = await TestService.shared();
  members = new MemberClient(await service.application());
});

/** A record with its types, as another program wrote it and the watcher has seen it. */
async function foreign(fields: mongo.Document): Promise<string> {
  const id = String((await members.app.member(fields))['id']);
  await service.watcher.caughtUp();
  return id;
}

const typed = (id: string) => members.collection.findOne({ ...members.app.tenant, id }, KEEP_TYPES);

describe('a patch does not touch what it does not name, whatever type that has', () => {
  const data = {
    double: new Double(1),
    int32: new Int32(1),
    int64: Long.fromString('9007199254740993'),
    decimal: Decimal128.fromString('1.10'),
    nan: new Double(NaN),
    date: new Date(-1),
    before: new Date('0001-01-01'),
    objectid: new ObjectId(),
    binary: new Binary(Buffer.from('x'), 128),
    regexp: new BSONRegExp('^a', 'i'),
    timestamp: new Timestamp({ t: 1, i: 2 }),
    code: new Code('x', { a: new Int32(1) }),
    reference: { $ref: 'x', $id: new Int32(1) },
    min: new MinKey(),
    max: new MaxKey(),
    nested: [[new Int32(1), ['a', { b: [] }]], {}],
    '10': { '3': 'a', '2': { '1': 'b', '0': 'c' } },
    '2': new Double(2),
    dotted: { 'a.b': 1, $c: { $set: '$d' } },
  };

  it('not a byte of it', async () => {
    const odd: [string, unknown][] = [
      ['_bsontype', 'ObjectId'],
      ['30', 'x'],
      [
        '3',
        new Map([
          ['b', 1],
          ['0', 2],
        ]),
      ],
    ];
    const names = new Map<string, unknown>([...Object.entries(data), ...odd]);
    const id = await foreign({ data: names, remark: names, channels: ['a', new Int32(5)] });
    const patch = { contactname: 'Ann', extrafields: { s: { p: 'x' } } };
    const answer = await members.patch(id, patch);
    expect(answer.status).toBe(200);
    const raw = (await members.collection.findOne({ id }, { raw: true })) as unknown as Buffer;
    const untouched = Buffer.from(BSON.serialize(names)).subarray(4, -1).toString('latin1');
    expect(raw.toString('latin1').split(untouched)).toHaveLength(3);
    expect(await typed(id)).toMatchObject({ data: patch, channels: ['a', new Int32(5)] });
  });

  it('also where the section it changes is of another program', async () => {
    const section = { a: new Int32(1), b: new Double(1), '9': Long.fromNumber(3), '1': [{}], c: 'x' };
    const id = await foreign({ data: { extrafields: { section, other: new Int32(1) } } });
    const answer = await members.patch(id, { extrafields: { section: { c: 'y', a: null, '5': true } } });
    expect(answer.status).toBe(200);
    expect((await typed(id))?.['data'].extrafields).toEqual({
      section: { b: new Double(1), '9': Long.fromNumber(3), '1': [{}], c: 'y', '5': true },
      other: new Int32(1),
    });
  });

  it('a number that is the same number is no change', async () => {
    for (const elevel of [new Double(5), Long.fromNumber(5), Decimal128.fromString('5')]) {
      const id = await foreign({ data: { elevel } });
      const before = await typed(id);
      expect((await members.patch(id, { elevel: 5 })).status).toBe(200);
      expect(await typed(id)).toEqual(before);
    }
  });
});

describe('records that other programs wrote oddly are patched all the same', () => {
  it.each<[string, mongo.Document]>([
    ['data is a text', { data: 'text' }],
    ['data is null', { data: null }],
    ['data is a list', { data: [{ contactname: 'x' }, { contactname: 'y' }] }],
    ['extrafields is a list', { data: { extrafields: [{ s: { p: 'x' } }, { s: { p: 'y' } }] } }],
    ['extrafields is a text', { data: { extrafields: 'text' } }],
    ['a section is a list', { data: { extrafields: { s: [{ p: 'x' }, { p: 'y' }] } } }],
    ['channels is a text', { channels: 'web' }],
    ['createdBy and type are numbers', { createdBy: 5, type: 5, createDate: 'yesterday' }],
    ['an e-mail is a number', { data: { email: 5 } }],
    ['emailkey is a number', { emailkey: 5 }],
    ['a stamp is a text', { lastupdated: 'yesterday' }],
    ['a stamp is a query', { lastupdated: { $gt: 0 } }],
    ['a stamp is a regular expression', { lastupdated: /x/ }],
  ])('%s', async (_what, fields) => {
    const id = await foreign(fields);
    const email = newEmail();
    const patch = { contactname: 'Ann', email, elevel: 1, channels: ['a'], extrafields: { s: { p: 'z' } } };
    const answer = await members.patch(id, patch);
    expect(answer.status).toBe(200);
    const { channels, ...data } = patch;
    expect(itemOf(answer)).toMatchObject({ data, channels });
    expect(itemOf(await members.patchAddress(id, { city: 'x' })).data).toMatchObject({
      ...data,
      address: { city: 'x' },
    });
    expect((await members.patch(id, { elevel: null, extrafields: null, channels: null })).status).toBe(200);
    const after = await members.stored(id);
    expect(after?.['data']).toEqual({ ...after?.['data'], contactname: 'Ann', email });
    expect(Object.keys(after?.['data'] as object).sort()).toEqual(['address', 'contactname', 'email']);
  });

  it('a document in data looks like a reference: it is shown as it is stored', async () => {
    const odd = { $ref: 'shop.items', $id: 5 };
    const id = await foreign({});
    await members.collection.updateOne({ id }, [{ $set: { data: { $literal: { odd } } } }]);
    expect(itemOf(await members.read(id)).data).toEqual({ odd });
    expect(itemOf(await members.patch(id, { contactname: 'Ann' })).data).toMatchObject({ odd });
  });

  it('data is missing', async () => {
    const id = await foreign({});
    await members.collection.updateOne({ id }, { $unset: { data: '', createdBy: '', type: '' } });
    const read = await members.read(id);
    expect(itemOf(read)).toMatchObject({ type: 'member', createdBy: '', data: {} });
    const before = await members.stored(id);
    expect((await members.patch(id, { contactname: null })).status).toBe(200);
    expect(await members.stored(id)).toEqual(before);
    expect(itemOf(await members.patch(id, { contactname: 'Ann' })).data).toEqual({ contactname: 'Ann' });
  });

  it('large ones, and ones as deep as MongoDB allows', async () => {
    const deep = JSON.parse(`${'{"a":'.repeat(176)}1${'}'.repeat(176)}`) as object;
    for (const data of [{ deep }, { large: 'x'.repeat(7 << 20) }, { large: 'x'.repeat(15 << 20) }]) {
      const id = await foreign({ data });
      const answer = await members.patch(id, { contactname: 'Ann' });
      expect(answer.status).toBe(200);
      expect((await members.stored(id))?.['data']).toEqual({ ...data, contactname: 'Ann' });
    }
  });

  it('400 where the member would become larger than MongoDB stores', async () => {
    const id = await foreign({ data: { large: 'x'.repeat((16 << 20) - 2000) } });
    const answer = await members.patch(id, { passwordhash: 'h'.repeat(4096) });
    expect([answer.status, pointersOf(answer)]).toEqual([400, ['']]);
    expect((await members.patch(id, { contactname: 'Ann' })).status).toBe(200);
  });

  it('a record whose _id is not an ObjectId is not served', async () => {
    await members.collection.insertOne({ _id: 'text', ...members.app.tenant, id: 'odd', data: {} } as never);
    expect((await members.read('odd')).status).toBe(404);
    expect((await members.patch('odd', { contactname: 'x' })).status).toBe(404);
  });
});

describe('what JavaScript cannot write back byte for byte', () => {
  const element = (type: number, name: string, ...value: number[]) =>
    Buffer.of(type, ...Buffer.from(`${name}\0`), ...value);
  const document = (...elements: Buffer[]) => {
    const bytes = Buffer.concat([Buffer.alloc(4), ...elements, Buffer.of(0)]);
    bytes.writeInt32LE(bytes.length);
    return bytes;
  };
  const elementsOf = (fields: object) => Buffer.from(BSON.serialize(fields)).subarray(4, -1);
  const text = (...bytes: number[]) => [bytes.length + 1, 0, 0, 0, ...bytes, 0];

  it.each<[string, Buffer]>([
    ['undefined', element(0x06, 'odd')],
    ['a DBPointer', element(0x0c, 'odd', ...text(0x61), ...new ObjectId().id)],
    ['a symbol', element(0x0e, 'odd', ...text(0x61))],
    ['a text that is not UTF-8', element(0x02, 'odd', ...text(0xff, 0xfe))],
    ['a date JavaScript does not know', element(0x09, 'odd', 255, 255, 255, 255, 255, 255, 255, 127)],
    ['a vector out of shape', element(0x05, 'odd', 3, 0, 0, 0, 9, 3, 7, 255)],
    ['a regular expression with an option that drivers do not know', element(0x0b, 'odd', 0x61, 0, 0x67, 0)],
    ['a name used twice', Buffer.concat([element(0x08, 'odd', 1), element(0x08, 'odd', 0)])],
  ])('%s: is patched, and stays', async (_what, odd) => {
    const id = newEmail();
    const inner = document(elementsOf({ contactname: 'Bea', email: newEmail() }), odd);
    const fields = { _id: new ObjectId(), ...members.app.tenant, id, lastupdated: new Date() };
    await insertRaw(
      service.uri,
      'members',
      document(elementsOf(fields), odd, element(0x03, 'data', ...inner)),
    );
    await service.watcher.caughtUp();
    expect((await members.read(id)).status).toBe(200);
    const patched = await members.patch(id, { contactname: 'Ann' });
    expect(patched.status).toBe(200);
    expect(itemOf(patched).data?.['contactname']).toBe('Ann');
    expect((await members.patchAddress(id, { city: 'x' })).status).toBe(200);
    const raw = (await members.collection.findOne({ id }, { raw: true })) as unknown as Buffer;
    expect(raw.toString('latin1').split(odd.toString('latin1'))).toHaveLength(3);
  });
});

it('a field of the address that drivers refuse to read is emptied', async () => {
  const element = (type: number, name: string, value: Uint8Array) =>
    Buffer.concat([Buffer.of(type), Buffer.from(`${name}\0`), value]);
  const document = (...elements: Buffer[]) => {
    const bytes = Buffer.concat([Buffer.alloc(4), ...elements, Buffer.of(0)]);
    bytes.writeInt32LE(bytes.length);
    return bytes;
  };
  const id = newEmail();
  const address = document(element(0x0b, 'city', Buffer.from('a\0g\0')));
  const fields = { _id: new ObjectId(), ...members.app.tenant, id, lastupdated: new Date() };
  const data = element(0x03, 'data', document(element(0x03, 'address', address)));
  const record = document(Buffer.from(BSON.serialize(fields)).subarray(4, -1), data);
  await insertRaw(service.uri, 'members', record);
  await service.watcher.caughtUp();
  expect(itemOf(await members.patchAddress(id, { city: '' })).data).toEqual({ address: { city: '' } });
});

it.each(['organizationid', 'appid'] as const)(
  'a member with a list in place of its %s belongs to nobody: 404, and nothing is written',
  async (field) => {
    const { tenant } = members.app;
    const record = {
      ...tenant,
      [field]: [tenant[field], 'another'],
      id: `of two by ${field}`,
      data: { a: 1 },
    };
    const { insertedId } = await members.collection.insertOne(record);
    const id = encodeURIComponent(record.id);
    expect((await members.read(id)).status).toBe(404);
    expect((await members.patch(id, { contactname: 'Eve' })).status).toBe(404);
    expect(await members.collection.findOne({ _id: insertedId })).toMatchObject({ data: { a: 1 } });
  },
);
