import mongoose, { type mongo } from 'mongoose';
import { type ShownFields, shownFieldsFault, shownFieldsOf } from '../../../../src/application/index.js';
import {
  canonicalText,
  channelsOf,
  jsonText,
  READ_FOR_JSON,
  updateItemText,
} from '../../../../src/record/index.js';
import { dice, randomRecord } from './random-records.js';
import { isDeliverable } from './reference.js';
import { hashOf, shapeOf, textOf } from './transcript.js';

const { BSON } = mongoose.mongo;

type Path = string[];

/** The paths of the fields within a value. */
function pathsIn(value: unknown, path: Path): Path[] {
  if (Array.isArray(value)) return value.flatMap((one) => pathsIn(one, path));
  if (!isPlain(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const isPart = name !== '' && !/^\$|[.\0]/.test(name) && path.length < 10;
    return isPart ? [[...path, name], ...pathsIn(inner, [...path, name])] : [];
  });
}

function isPlain(value: unknown): value is object {
  return Object.prototype.toString.call(value) === '[object Object]' && !('_bsontype' in (value as object));
}

const LEFT_OUT = Symbol('left out');

/** What is shown of a value at a path, the plain way: the path is compared with every other one. */
function plain(value: unknown, path: Path, fields: ShownFields): unknown {
  const text = path.join('.');
  const isAt = (paths: string[] = []) => paths.some((one) => text === one || text.startsWith(`${one}.`));
  const hashed = fields.hash?.includes(text) === true;
  const isShown = fields.only === undefined ? !isAt(fields.except) : isAt(fields.only);
  const leadsOn = [...(fields.only ?? []), ...(fields.hash ?? [])].some((one) => one.startsWith(`${text}.`));
  const of = (one: unknown, at: Path): unknown => {
    if (Array.isArray(one)) return one.map((each) => orNull(of(each, at)));
    if (!isPlain(one)) return isShown ? one : LEFT_OUT;
    const members = Object.entries(one)
      .map(([name, inner]) => [name, plain(inner, [...at, name.replace('.', '\0')], fields)] as const)
      .filter(([, inner]) => inner !== LEFT_OUT);
    const shownMembers = {};
    for (const [name, inner] of members)
      Object.defineProperty(shownMembers, name, { value: inner, enumerable: true });
    return shownMembers;
  };
  if (hashed) return hashOf(canonicalText(value));
  return isShown || leadsOn ? of(value, path) : LEFT_OUT;
}

function orNull(value: unknown): unknown {
  return value === LEFT_OUT ? null : value;
}

function plainItem(stored: mongo.Document, fields: ShownFields): string {
  const data: unknown = stored['data'];
  const members = isPlain(data)
    ? Object.entries(data).map(
        ([name, inner]) => [name, plain(inner, ['data', name.replace('.', '\0')], fields)] as const,
      )
    : [];
  const shownData = {};
  for (const [name, inner] of members)
    if (inner !== LEFT_OUT) Object.defineProperty(shownData, name, { value: inner, enumerable: true });
  const { createdBy, channels } = stored as { createdBy: unknown; channels: unknown };
  const marked = { ...stored, createdBy: '\u0001', data: shownData, channels: ['\u0001'] };
  const item = updateItemText('product', marked, { withPasswordHash: false });
  const whole = (name: string, value: unknown) => {
    const one = plain(value, [name], fields);
    return one === LEFT_OUT ? '' : `,"${name}":${jsonText(one)}`;
  };
  return item
    .replace(',"createdBy":"\\u0001"', () =>
      whole('createdBy', typeof createdBy === 'string' ? createdBy : ''),
    )
    .replace(',"channels":["\\u0001"]', () => whole('channels', channelsOf(channels) ?? []));
}

describe('The fields of a service, in random records', () => {
  const READ = { ...READ_FOR_JSON, validation: { utf8: false } };
  const DOCUMENTS = 10_000;

  it('are those of a plain reference', () => {
    const roll = dice(11);
    const kinds = { only: 0, except: 0, hash: 0 };
    let left = 0;
    for (let turn = 0; turn < DOCUMENTS; turn++) {
      const stored = randomRecord(roll);
      const read = BSON.deserialize(stored.bytes, READ);
      if (!isDeliverable(read)) continue;
      const paths = [...pathsIn(read['data'], ['data']), ['data', 'none'], ['createdBy'], ['channels']];
      const pick = (most: number) =>
        Array.from({ length: roll(most) }, () => paths[roll(paths.length)]!.join('.'));
      const list = (['only', 'except', 'none'] as const)[roll(3)]!;
      const chosen = {
        ...(list !== 'none' && { fields: { [list]: pick(8) } }),
        ...(roll(2) === 0 && { hash: pick(4) }),
      };
      if (shownFieldsFault(chosen) !== undefined) continue;
      const fields = shownFieldsOf(chosen) ?? {};
      for (const name of Object.keys(fields)) kinds[name as keyof typeof kinds] += 1;
      const item = textOf(stored, shapeOf(fields));
      const expected = plainItem(read, fields);
      if (item !== expected) expect({ turn, fields, item }).toEqual({ turn, fields, item: expected });
      if (item.length < textOf(stored).length) left += 1;
    }
    expect(Math.min(...Object.values(kinds))).toBeGreaterThan(1000);
    expect(left).toBeGreaterThan(DOCUMENTS / 4);
  });
});
