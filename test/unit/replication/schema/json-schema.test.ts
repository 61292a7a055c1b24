import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import ts from 'typescript';
import {
  examplesIn,
  type Frame,
  itemSchema,
  interfaceName,
  typeScriptOf,
} from '../../../../src/replication/schema/json-schema.js';
import { merged } from '../../../../src/replication/schema/merge.js';
import { SampleCollector, type SeenItems } from '../../../../src/replication/schema/seen.js';

const PRODUCT: Frame = { createdBy: 'shown', channels: 'list', alwaysHasChannels: true };

function seenOf(datas: unknown[]): SeenItems {
  const sample = new SampleCollector(undefined);
  for (const data of datas) sample.add(data);
  return sample.seen;
}

const itemOf = (data: unknown) => ({
  ...{ id: 'a', type: 'product', createDate: '2026-11-20T10:00:00.000Z', createdBy: 'x' },
  ...{ lastupdated: '2026-11-20T10:00:00.000Z', data, channels: [] },
});

describe('the JSON Schema', () => {
  it('has the types, the formats and the shares of the fields', () => {
    const datas = [
      { name: 'a', price: 1, seen: '2026-11-20T10:00:00.000Z', rows: [{ n: 1 }, {}] },
      { name: null, price: 1.5 },
      { name: 'b', stock: { '4711': 3 } },
    ];
    expect(itemSchema(PRODUCT, seenOf(datas)).properties!['data']).toEqual({
      type: 'object',
      properties: {
        name: { type: ['null', 'string'], 'x-tidemark-share': 1 },
        price: { type: 'number', 'x-tidemark-share': 0.667 },
        rows: {
          type: 'array',
          items: { type: 'object', properties: { n: { type: 'integer', 'x-tidemark-share': 0.5 } } },
          'x-tidemark-share': 0.333,
        },
        seen: { type: 'string', format: 'date-time', 'x-tidemark-share': 0.333 },
        stock: { type: 'object', additionalProperties: { type: 'integer' }, 'x-tidemark-share': 0.333 },
      },
    });
  });

  it('has the members of every item, as the fields of the service leave them', () => {
    const nothing = seenOf([]);
    expect(itemSchema(PRODUCT, nothing)).toEqual({
      type: 'object',
      properties: {
        ...{ id: { type: 'string' }, type: { type: 'string' } },
        ...{ createDate: { type: 'string', format: 'date-time' }, createdBy: { type: 'string' } },
        ...{ lastupdated: { type: 'string', format: 'date-time' }, data: { type: 'object' } },
        channels: { type: 'array', items: { type: 'string' } },
      },
      required: ['id', 'type', 'createDate', 'createdBy', 'lastupdated', 'data', 'channels'],
    });
    const member: Frame = { createdBy: 'absent', channels: 'text', alwaysHasChannels: false };
    const { properties, required } = itemSchema(member, nothing);
    expect(properties!['channels']).toEqual({ type: 'string' });
    expect(required).toEqual(['id', 'type', 'createDate', 'lastupdated', 'data']);
    const without = itemSchema({ ...member, channels: 'absent' }, nothing);
    expect(Object.keys(without.properties!)).not.toContain('channels');
  });

  it('accepts every item that it is from', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false, ownProperties: true });
    fc.assert(
      fc.property(fc.array(fc.dictionary(fc.string(), fc.jsonValue()), { maxLength: 5 }), (datas) => {
        const text = JSON.stringify(datas);
        // ajv takes a property of this name for one that `properties` does not name.
        fc.pre(!text.includes('__proto__'));
        const json = JSON.parse(text) as unknown[];
        const accepts = ajv.compile(itemSchema(PRODUCT, seenOf(json)) as object);
        for (const data of json) expect(accepts(itemOf(data)) || accepts.errors).toBe(true);
      }),
    );
  });

  it('accepts members that it has no place for, in an object whose other names are data', () => {
    const names = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`n${n}x`, 1]));
    const full = { ...Object.fromEntries([1, 2, 3, 4, 5].map((n) => [`g${n}x`, names(198)])) };
    const first = { mixed: { 4711: 1 }, ...full };
    const second = { mixed: { 4711: 1, named: { of: names(50) } } };
    const accepts = (seen: SeenItems, { mixed }: { mixed: object }) => {
      const { properties } = itemSchema(PRODUCT, seen).properties!['data']!;
      return new Ajv2020({ strict: false }).validate(properties!['mixed']!, mixed);
    };
    const filled = { ...first, more: names(100) };
    expect(accepts(seenOf([filled, second]), second)).toBe(true);
    expect(accepts(merged(seenOf([first]), seenOf([second]), 0), second)).toBe(true);
    expect(accepts(merged(seenOf([filled]), seenOf([filled, second]), 0), second)).toBe(true);
    expect(accepts(seenOf([first]), { mixed: { 4712: 'a text' } })).toBe(false);
  });

  it('has examples only where they are given, never of names that are data', () => {
    const datas = [
      { a: 'x', rows: [{ n: 1 }, { n: 2 }], map: { 'ada@example.org': 'secret' } },
      { a: 'y', rows: [{ n: 1 }] },
      ...['z', 'w', 'x'.repeat(200)].map((a) => ({ a })),
    ];
    const schema = itemSchema(PRODUCT, seenOf(datas), examplesIn(datas));
    const { properties } = schema.properties!['data']!;
    expect(properties!['a']!.examples).toEqual(['x', 'y', 'z']);
    expect(properties!['rows']!.items!.properties!['n']!.examples).toEqual([1, 2]);
    expect(JSON.stringify(schema)).not.toMatch(/secret|ada@/);
    expect(JSON.stringify(itemSchema(PRODUCT, seenOf(datas)))).not.toContain('examples');
  });
});

describe('the TypeScript interface', () => {
  it('is the same schema', () => {
    const datas = [
      { name: 'a', 'net price': 1, rows: [{ n: 1 }, { n: 'x' }], tags: ['a'], any: [], free: {} },
      { name: null, stock: { '4711': 3 }, mixed: [1, 'a'] },
    ];
    const schema = itemSchema({ ...PRODUCT, createdBy: 'absent' }, seenOf(datas));
    expect(typeScriptOf(schema, 'ProductErpItem', 'Items. */ x')).toBe(`/** Items. * / x */
export interface ProductErpItem {
  id: string;
  type: string;
  createDate: string;
  lastupdated: string;
  data: {
    any?: unknown[];
    free?: Record<string, unknown>;
    mixed?: Array<number | string>;
    name?: null | string;
    "net price"?: number;
    rows?: Array<{
      n?: number | string;
    }>;
    stock?: {
      [name: string]: number;
    };
    tags?: string[];
  };
  channels: string[];
}
`);
  });

  it('is TypeScript, whatever the names are', () => {
    fc.assert(
      fc.property(fc.array(fc.dictionary(fc.string(), fc.jsonValue()), { maxLength: 3 }), (datas) => {
        const json = JSON.parse(JSON.stringify(datas)) as unknown[];
        const text = typeScriptOf(itemSchema(PRODUCT, seenOf(json)), 'Item', 'Items');
        const { diagnostics } = ts.transpileModule(text, { reportDiagnostics: true });
        expect(diagnostics!.map(({ messageText }) => messageText)).toEqual([]);
      }),
    );
  });

  it.each([
    ['product', 'default', 'ProductDefaultItem'],
    ['member', 'erp-eu.2', 'MemberErpEu2Item'],
    ['web-order', 'default', 'WebOrderDefaultItem'],
  ])('of %s %s is %s', (kind, service, name) => expect(interfaceName(kind, service)).toBe(name));
});
