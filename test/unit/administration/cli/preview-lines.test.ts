import { previewLines, savedLines } from '../../../../src/administration/cli/preview-lines.js';
import type { Preview } from '../../../../src/administration/index.js';
import { kindsIn, replaceKinds } from '../../../../src/kinds/index.js';

const preview: Preview = {
  records: 3000,
  matching: { count: 648, ids: ['a', 'b'] },
  others: { count: 2352, ids: [] },
  entering: { count: 5, ids: [] },
  leaving: { count: 7, ids: ['c'] },
  concerned: { count: 0, ids: [] },
  restamps: 12,
  error: undefined,
  isCutOff: false,
  plan: { indexes: ['by_color'], readsEveryRecord: false, advice: null },
  warnings: [],
  samples: [],
};
const tried = {
  organizationid: 'acme',
  appid: 'shop',
  kind: 'product',
  filter: { 'data.name': "it's" },
} as const;
const lines = (change: Partial<Preview>) => previewLines({ ...preview, ...change }, tried);

describe('What a preview says to people', () => {
  it('how many match, who moves, and which index serves', () => {
    expect(lines({})).toEqual([
      '648 of 3,000 products match.',
      'The first that match: a, b',
      '5 would enter and 7 would leave: 12 will be delivered again.',
      'The first that would leave: c',
      'The index by_color serves it.',
    ]);
  });

  it('records of a kind by its plural', () => {
    replaceKinds(kindsIn([{ _id: 1, name: 'category', collection: 'categories', plural: 'categories' }]));
    expect(previewLines(preview, { ...tried, kind: 'category' })[0]).toBe('648 of 3,000 categories match.');
    replaceKinds(new Map());
  });

  it('who would show other fields', () => {
    const said = lines({ concerned: { count: 3, ids: ['d'] }, restamps: 15 });
    expect(said).toEqual(
      expect.arrayContaining([
        '5 would enter, 7 would leave, and 3 would show other fields: 15 will be delivered again.',
        'The first that would show other fields: d',
      ]),
    );
  });

  it('what changes in some of them', () => {
    const item = (data: object) => ({ id: 'a', data });
    const list = Array.from({ length: 9 }, (_, n) => n);
    const samples = [
      { id: 'a', before: item({ mail: 'a@b', n: [{ x: 1 }] }), after: item({ n: [{ x: 'hash' }] }) },
      { id: 'b', before: null, after: item({ text: 'x'.repeat(100) }) },
      { id: 'c', before: item({}), after: null },
      { id: 'd', before: item({ list }), after: item({ list: list.map((n) => n + 1) }) },
      { id: 'e', before: item({}), after: item({}) },
    ];
    expect(lines({ samples }).filter((line) => line.startsWith('For example'))).toEqual([
      'For example a: data.mail "a@b" -> left out; data.n.0.x 1 -> "hash"',
      `For example b: would enter, with {"text":"${'x'.repeat(50)}…`,
      'For example c: would leave.',
      `For example d: ${[0, 1, 2, 3, 4].map((n) => `data.list.${n} ${n} -> ${n + 1}`).join('; ')}; and 4 more`,
      'For example e: no field that is shown would differ',
    ]);
  });

  it('which line to copy for an index that would serve it', () => {
    const advice = { organizationid: 1, appid: 1, 'data.name': 1 } as const;
    expect(lines({ plan: { indexes: ['by_id'], readsEveryRecord: true, advice } }).at(-1)).toBe(
      'No index serves it: every record is read. Make one: npm run -s admin -- service index --org acme --app shop ' +
        `--kind product --filter '{"data.name":"it'\\''s"}'`,
    );
    expect(lines({ plan: { indexes: ['by_id'], readsEveryRecord: true, advice: null } }).at(-1)).toBe(
      'No index serves it: every record is read.',
    );
  });

  it('that it is an estimate, and how good', () => {
    expect(lines({ error: 31 })).toEqual(
      expect.arrayContaining([
        'About 648 of 3,000 products match.',
        'These are estimates from a random sample, each accurate to within 31 records in 95 of 100 cases.',
      ]),
    );
  });

  it('what is not known since it was cut off', () => {
    const unknown = { count: null, ids: [] };
    const said = lines({
      matching: unknown,
      others: unknown,
      leaving: unknown,
      restamps: null,
      isCutOff: true,
      plan: null,
    });
    expect(said).toEqual([
      'An unknown number of 3,000 products match.',
      '5 would enter and an unknown number would leave: an unknown number will be delivered again.',
      'The preview is not complete: it reached the time limit QUERY_MS.',
    ]);
  });

  it('what is warned of, and where', () => {
    expect(lines({ warnings: [{ path: '$or[0].n', detail: 'No product has it.' }] }).at(-1)).toBe(
      'Warning: $or[0].n: No product has it.',
    );
  });

  it('in one sentence to who has saved it', () => {
    expect(savedLines(preview, true)).toEqual(['648 of 3,000 match; 12 will be delivered again.']);
    expect(savedLines(preview, false)).toEqual([
      '648 of 3,000 match; 12 will be delivered again once it is on.',
    ]);
    expect(savedLines({ ...preview, entering: undefined, leaving: undefined }, true)).toEqual([
      '648 of 3,000 match.',
    ]);
  });
});
