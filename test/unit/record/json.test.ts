import fc from 'fast-check';
import mongoose from 'mongoose';
import { jsonText, READ_FOR_JSON } from '../../../src/record/index.js';
import { runs } from '../../support/runs.js';

const { BSON } = mongoose.mongo;

/** A value as another program stores it, with the JSON text it must become. */
interface Example {
  stored: unknown;
  text: string;
}

const LONGEST = 0xffff_ffff_ffff_ffffn;
const key = fc.oneof(
  fc.string({ maxLength: 8 }).filter((name) => !name.includes('\u0000')),
  fc.constantFrom(
    '__proto__',
    'constructor',
    '_bsontype',
    'toJSON',
    'toBSON',
    'length',
    '$set',
    'a.b',
    '',
    'id',
  ),
);

const leaf: fc.Arbitrary<Example> = fc.oneof(
  fc.string().map((stored) => ({ stored, text: JSON.stringify(stored) })),
  fc.integer().map((stored) => ({ stored, text: String(stored) })),
  fc.double().map((stored) => ({ stored, text: Number.isFinite(stored) ? JSON.stringify(stored) : 'null' })),
  fc.constantFrom(true, false, null).map((stored) => ({ stored, text: String(stored) })),
  fc
    .bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
    .map((n) => ({ stored: BSON.Long.fromBigInt(n), text: String(n) })),
  fc.date({ noInvalidDate: true }).map((stored) => ({ stored, text: `"${stored.toISOString()}"` })),
  fc.uint8Array({ minLength: 12, maxLength: 12 }).map((bytes) => ({
    stored: new BSON.ObjectId(bytes),
    text: `"${Buffer.from(bytes).toString('hex')}"`,
  })),
  fc.tuple(fc.uint8Array(), fc.constantFrom(0, 5, 0x80)).map(([bytes, subtype]) => ({
    stored: new BSON.Binary(bytes, subtype),
    text: `"${Buffer.from(bytes).toString('base64')}"`,
  })),
  fc
    .tuple(fc.bigInt(1n - 10n ** 33n, 10n ** 33n - 1n), fc.integer({ min: 1, max: 9 }))
    .map(([digits, cents]) => ({
      stored: BSON.Decimal128.fromString(`${digits}.${cents}`),
      text: `"${digits}.${cents}"`,
    })),
  fc.bigInt({ min: 0n, max: LONGEST }).map((n) => ({ stored: new BSON.Timestamp(n), text: `"${n}"` })),
);

const { value } = fc.letrec<{ value: Example; list: Example; document: Example }>((tie) => ({
  value: fc.oneof({ depthSize: 'small', withCrossShrink: true }, leaf, tie('list'), tie('document')),
  list: fc.array(tie('value'), { maxLength: 4 }).map((items) => ({
    stored: items.map((item) => item.stored),
    text: `[${items.map((item) => item.text).join(',')}]`,
  })),
  document: fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }).map((entries) => {
    const members = new Map(entries);
    return {
      stored: new Map([...members].map(([name, item]) => [name, item.stored])),
      text: `{${[...inOrder(members)].map(([name, item]) => `${JSON.stringify(name)}:${item.text}`).join(',')}}`,
    };
  }),
}));

/** Objects of JavaScript list keys that are whole numbers first. */
function inOrder<T>(members: Map<string, T>): Map<string, T> {
  const isIndex = (name: string) => /^(0|[1-9]\d{0,9})$/.test(name) && Number(name) < 2 ** 32 - 1;
  const names = [...members.keys()];
  const indexes = names.filter(isIndex).sort((one, other) => Number(one) - Number(other));
  return new Map(
    [...indexes, ...names.filter((name) => !isIndex(name))].map((name) => [name, members.get(name)!]),
  );
}

function throughBson(stored: unknown): unknown {
  return BSON.deserialize(BSON.serialize({ value: stored }), READ_FOR_JSON)['value'];
}

describe('jsonText', () => {
  it('writes what JSON.stringify writes, where JSON knows the value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (json) => {
        expect(jsonText(json)).toBe(JSON.stringify(json));
      }),
    );
  });

  it('writes every stored value as contract §4 says, key for key, at any depth', () => {
    fc.assert(
      fc.property(value, ({ stored, text }) => {
        expect(jsonText(throughBson(stored))).toBe(text);
      }),
      { numRuns: runs(500) },
    );
  });

  it('is JSON that can be parsed, whatever bytes a text has', () => {
    const bytes = Buffer.from(BSON.serialize({ value: 'AAAA' }));
    bytes.set([0xff, 0xc0, 0x80, 0xed], bytes.indexOf('AAAA'));
    const { value: broken } = BSON.deserialize(bytes, { ...READ_FOR_JSON, validation: { utf8: false } });
    expect(JSON.parse(jsonText(broken))).toMatch(/\ufffd/);
  });

  it('writes references with all their keys', () => {
    const id = new BSON.ObjectId('6740a1b2c3d4e5f601234567');
    const reference = throughBson({ $ref: 'people', $id: id, $db: 'crm', since: 2020 });
    expect(JSON.parse(jsonText(reference))).toEqual({
      ...{ $ref: 'people', $id: '6740a1b2c3d4e5f601234567', $db: 'crm', since: 2020 },
    });
  });

  it('writes null for what JSON cannot say', () => {
    const speechless = [
      NaN,
      Infinity,
      -Infinity,
      undefined,
      new Date(NaN),
      new BSON.MinKey(),
      new BSON.MaxKey(),
    ];
    expect(speechless.map(jsonText)).toEqual(speechless.map(() => 'null'));
    expect(jsonText([() => 1, Symbol('x')])).toBe('[null,null]');
  });
});
