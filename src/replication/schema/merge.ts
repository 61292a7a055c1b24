import {
  type Absence,
  countPlaces,
  emptyPlace,
  MOST_NAMES,
  MOST_PLACES,
  type SeenField,
  type SeenItems,
  type Tally,
  toMap,
  type JsonType,
  typesOf,
} from './seen.js';

/** Earlier samples together count as at most this many records. */
const REMEMBERED = 10_000;
/**
 * A field or a type vanishes only if about this many sightings of it were to be expected and there was none: by chance,
 * that happens once in 8 million.
 */
const EXPECTED = 16;
/**
 * It also vanishes only if a whole round of the walk has not shown it. The round in which it was first absent does not
 * count, because it may have begun earlier.
 */
const ROUNDS = 2;

/**
 * What is known after a sample of some of the records. A field or a type that the sample does not show remains, until enough
 * records have been read without it: a field of 1 % of the records is missing in many samples. `round` is that of the walk.
 */
export function merged(before: SeenItems, sample: SeenItems, round: number): SeenItems {
  const fade = Math.min(1, REMEMBERED / Math.max(1, before.records));
  const merging = new Merging(fade, round);
  // A copy, because merging modifies objects that have become maps.
  const data = merging.places(structuredClone(before.data), sample.data, {
    before: before.records,
    now: sample.records,
  });
  return { records: rounded(before.records * fade + sample.records), data: data ?? emptyPlace() };
}

/** How often a place could have been seen: in the sample, and in all samples before it. */
interface Chances {
  before: number;
  now: number;
}

class Merging {
  private room: number | undefined;

  constructor(
    private readonly fade: number,
    private readonly round: number,
  ) {}

  /** Merges a place with what the sample has shown of it. Undefined if the place has vanished. */
  places(before: SeenField, sample: SeenField | undefined, chances: Chances): SeenField | undefined {
    this.room ??= MOST_PLACES - countPlaces(before);
    const tally = this.tally(before, sample, chances);
    if (tally === undefined) return undefined;
    const place: SeenField = { ...emptyPlace(), ...tally };
    const ofTypes = { before: before.count, now: sample?.count ?? 0 };
    for (const [type, known] of before.types) {
      const ofType = this.tally(known, sample?.types.get(type), ofTypes);
      if (ofType !== undefined) place.types.set(type, ofType);
    }
    for (const [type, { count }] of sample?.types ?? [])
      if (!place.types.has(type)) place.types.set(type, { count });
    this.members(place, before, sample);
    return place;
  }

  private members(place: SeenField, before: SeenField, sample: SeenField | undefined): void {
    if (before.isMap === true || sample?.isMap === true) {
      place.isMap = true;
      if (before.isMap !== true) toMap(before);
      if (sample !== undefined && sample.isMap !== true) toMap(sample);
    }
    if (before.isPartial === true || sample?.isPartial === true) place.isPartial = true;
    const inObjects = chancesIn('object', before, sample);
    for (const [name, known] of before.fields) {
      const field = this.places(known, sample?.fields.get(name), inObjects);
      if (field !== undefined) place.fields.set(name, field);
    }
    for (const [name, field] of sample?.fields ?? []) {
      if (before.fields.has(name)) continue;
      if (this.hasRoomFor(field)) place.fields.set(name, field);
      else place.isPartial = true;
    }
    const values = this.either(before.values, sample?.values, inObjects);
    if (values !== undefined) place.values = values;
    else if (sample?.values !== undefined) place.isPartial = true;
    const elements = this.either(before.elements, sample?.elements, chancesIn('array', before, sample));
    if (elements !== undefined) place.elements = elements;
    if (place.fields.size > MOST_NAMES) toMap(place);
  }

  private either(
    before: SeenField | undefined,
    sample: SeenField | undefined,
    chances: Chances,
  ): SeenField | undefined {
    if (before !== undefined) return this.places(before, sample, chances);
    return sample !== undefined && this.hasRoomFor(sample) ? sample : undefined;
  }

  private hasRoomFor(place: SeenField): boolean {
    const needed = countPlaces(place);
    if (this.room! < needed) return false;
    this.room! -= needed;
    return true;
  }

  private tally(before: Tally, sample: Tally | undefined, chances: Chances): Tally | undefined {
    const faded = rounded(before.count * this.fade);
    if (sample !== undefined && sample.count > 0) return { count: rounded(faded + sample.count) };
    if (chances.now === 0) return { ...before, count: faded };
    const absence = this.absence(before, chances);
    const isExpected = absence.chances * absence.share >= EXPECTED;
    return isExpected && this.round >= absence.round + ROUNDS ? undefined : { count: faded, absence };
  }

  private absence({ count, absence }: Tally, { before, now }: Chances): Absence {
    const share = absence?.share ?? Math.min(1, count / Math.max(1, before));
    return {
      ...{ share, chances: (absence?.chances ?? 0) + now },
      round: absence?.round ?? this.round,
    };
  }
}

function chancesIn(type: 'object' | 'array', before: SeenField, sample: SeenField | undefined): Chances {
  const countIn = (place: SeenField | undefined) => place?.types.get(type)?.count ?? 0;
  return { before: countIn(before), now: countIn(sample) };
}

const DIGITS = 1000;

function rounded(count: number): number {
  return Math.round(count * DIGITS) / DIGITS;
}

/** A change of a schema. Types are those of JSON, and `date-time` is a string in that format. */
export interface FieldChange {
  /** The path from `data`, with the parts of {@link innerPlaces}. */
  path: string;
  change: 'appeared' | 'vanished' | 'type';
  /** The types before; absent if it appeared. */
  from?: JsonType[];
  /** The types now; absent if it vanished. */
  to?: JsonType[];
}

/** The changes from one schema to the next: fields before the fields within them, in alphabetical order. */
export function changesBetween(before: SeenItems, after: SeenItems): FieldChange[] {
  const changes: FieldChange[] = [];
  compare('data', before.data, after.data, changes);
  return changes;
}

/** The changes whose path names no member of an object that is a map now: the names of its members are data. */
export function withoutMembersOfMaps<Change extends FieldChange>(
  changes: Change[],
  { data }: SeenItems,
): Change[] {
  const maps = [...mapsIn('data', data)];
  const isMember = (path: string, map: string) =>
    path.startsWith(`${map}.`) && !/^\.\*(?:$|[.[])/.test(path.slice(map.length));
  return changes.filter(({ path }) => !maps.some((map) => isMember(path, map)));
}

function* mapsIn(path: string, place: SeenField): Generator<string> {
  if (place.isMap === true) yield path;
  for (const [part, , inner] of innerPlaces(place, place))
    if (inner !== undefined) yield* mapsIn(`${path}${part}`, inner);
}

function compare(path: string, before: SeenField, after: SeenField, changes: FieldChange[]): void {
  const [from, to] = [typesOf(before), typesOf(after)];
  // Not for `data`, which is always an object, but has no type as long as there are no records.
  if (path !== 'data' && from.join() !== to.join()) changes.push({ path, change: 'type', from, to });
  const becameMap = after.isMap === true && before.isMap !== true;
  for (const [part, one, other] of innerPlaces(before, after)) {
    const inner = `${path}${part}`;
    if (one !== undefined && other !== undefined) compare(inner, one, other, changes);
    else if (other !== undefined) note(inner, other, 'appeared', changes);
    else if (one !== undefined && !becameMap) note(inner, one, 'vanished', changes);
  }
}

function note(path: string, place: SeenField, change: 'appeared' | 'vanished', changes: FieldChange[]): void {
  changes.push({ path, change, [change === 'appeared' ? 'to' : 'from']: typesOf(place) });
  for (const [part, inner] of innerPlaces(place, place))
    if (inner !== undefined) note(`${path}${part}`, inner, change, changes);
}

type Inner = [part: string, before: SeenField | undefined, after: SeenField | undefined];

/** A field as `.name`, the values of a map as `.*`, and the elements of a list as `[]`. */
function innerPlaces(before: SeenField, after: SeenField): Inner[] {
  const names = [...new Set([...before.fields.keys(), ...after.fields.keys()])].sort();
  return [
    ...names.map((name): Inner => [`.${name}`, before.fields.get(name), after.fields.get(name)]),
    ['.*', before.values, after.values],
    ['[]', before.elements, after.elements],
  ];
}
