import { mongo } from 'mongoose';
import { Problem } from '../../../../../src/platform/http/index.js';
import { parseChanges } from '../../../../../src/replication/feed/http/parameters.js';
import { cursorOf } from '../../../../../src/replication/feed/plain.js';

const asked = {
  feed: 'bikes',
  limitMax: 10_000,
  asLines: false,
};
const FROM = '2025-03-04T00:00:00.000Z';
const TO = '2025-03-05T00:00:00.000Z';
const LATER = '2025-03-06T00:00:00.000Z';
const within = {
  from: new Date(FROM),
  to: new Date(TO),
  toIsClock: false,
  section: 'left',
  lastoffsetid: new mongo.ObjectId('6740a1b2c3d4e5f601234567'),
  withDeletes: true,
} as const;
const place = { toIsClock: false, section: within.section, lastoffsetid: within.lastoffsetid };
const token = cursorOf('bikes', within);
const ofClock = cursorOf('bikes', { ...within, toIsClock: true });
const first = cursorOf('bikes', { ...within, from: undefined, withDeletes: false });
const ended = cursorOf('bikes', { from: new Date(FROM) });

function refused(query: Record<string, unknown>): string[] {
  try {
    parseChanges(query, asked);
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 400) throw error;
    return (error.extras.errors ?? []).map((one) =>
      'parameter' in one ? `${one.parameter} ${one.detail}` : '',
    );
  }
  return [];
}

const read = (query: Record<string, unknown>) => parseChanges(query, asked);

describe('parseChanges', () => {
  it('needs nothing', () => {
    expect(read({})).toEqual({
      ...{ asLines: false, limit: 1000, from: undefined, to: undefined },
      ...{ withDeletes: true, place: undefined },
    });
  });

  it('reads a window, and whether deletes are left out', () => {
    expect(read({ from: FROM, to: TO, limit: '5', lastoffsetid: '' })).toMatchObject({
      ...{ from: new Date(FROM), to: new Date(TO), limit: 5, place: undefined },
    });
    expect(read({ deletes: 'skip' })).toMatchObject({ withDeletes: false });
  });

  it.each([
    ['nothing', {}],
    ['the window of the first page', { from: FROM, to: TO }],
  ])('a nextoffsetid holds its window; beside it may stand %s', (_what, beside) => {
    const request = { from: within.from, to: within.to, withDeletes: true, place };
    expect(read({ ...beside, lastoffsetid: token })).toMatchObject(request);
  });

  it('an empty lastoffsetid beside a cursor is the same as none', () => {
    expect(read({ cursor: token, lastoffsetid: '', limit: '5' })).toEqual(
      read({ cursor: token, limit: '5' }),
    );
  });

  it('where the clock has settled its to, one that lay further ahead may stand beside it, and none before', () => {
    for (const to of [TO, LATER])
      expect(read({ to, lastoffsetid: ofClock })).toMatchObject({
        to: within.to,
        place: { ...place, toIsClock: true },
      });
    expect(refused({ to: FROM, lastoffsetid: ofClock })).toHaveLength(1);
  });

  it.each([
    ['from', { from: LATER }],
    ['to, before it', { to: FROM }],
    ['to, behind it', { to: LATER }],
    ['deletes', { deletes: 'skip' }],
  ])('a nextoffsetid of another window is told so: another %s', (_what, beside) => {
    expect(refused({ ...beside, lastoffsetid: token })).toEqual([
      expect.stringMatching(/^lastoffsetid .*is of another window\. Send the from, to and deletes/),
    ]);
  });

  it('that deletes are left out lasts for the window, whether it is repeated or not', () => {
    for (const beside of [{}, { deletes: 'skip' }])
      expect(read({ ...beside, lastoffsetid: first })).toMatchObject({ withDeletes: false, from: undefined });
    expect(read({ cursor: first })).toMatchObject({ withDeletes: false });
  });

  it('a cursor goes on within its window, or with the next one', () => {
    expect(read({ cursor: token, limit: '7' })).toMatchObject({ to: within.to, place, limit: 7 });
    expect(read({ cursor: ended })).toMatchObject({
      ...{ from: new Date(FROM), to: undefined, place: undefined, withDeletes: true },
    });
  });

  it.each(['from', 'to', 'lastoffsetid', 'deletes'])('a cursor with %s beside it is told so', (name) => {
    const query = { cursor: token, [name]: { lastoffsetid: token, deletes: 'skip' }[name] ?? FROM };
    expect(refused(query)).toContainEqual(`cursor goes with nothing but limit. Leave out ${name}.`);
  });

  it.each([
    [{ deletes: 'skip', from: FROM }, /^deletes is for a first harvest only/],
    [{ deletes: 'none' }, /^deletes "none" is not known\. Send deletes=skip/],
    [{ lastoffsetid: ended }, /^lastoffsetid .* leads to the next window\. Send it as cursor\./],
    [{ lastoffsetid: '6740a1b2c3d4e5f601234567' }, /^lastoffsetid .* is not a nextoffsetid of changes\./],
    [{ lastoffsetid: cursorOf('tents', within) }, /^lastoffsetid .* is a nextoffsetid of another feed\./],
    [{ cursor: '' }, /^cursor "" is not a cursor of changes\./],
    [{ cursor: cursorOf('tents', within) }, /^cursor .* is a cursor of another feed\./],
    [{ cursor: [token, token] }, /^cursor is given more than once/],
    [{ to: 'x' }, /^to "x" is not a date/],
    [{ limit: '0' }, /^limit "0" is not a limit/],
  ])('%j is wrong', (query, told) => {
    expect(refused(query)).toEqual([expect.stringMatching(told)]);
  });
});
