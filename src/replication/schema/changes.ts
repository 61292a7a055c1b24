import { type JsonType, type SeenField, type SeenItems, typesOf } from './seen.js';

/** A change of a schema. Types are those of JSON, and `date-time` is a string in that format. */
export interface FieldChange {
  /** The parts of {@link pathText}. */
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

/** Without those that name a member of what is a map now: the names of its members are data. */
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
  // Without records there are no types, and `data` of a service is always an object.
  if (path !== 'data' && from.join() !== to.join()) changes.push({ path, change: 'type', from, to });
  const becameMap = after.isMap === true && before.isMap !== true;
  for (const [part, one, other] of innerPlaces(before, after)) {
    const inner = `${path}${part}`;
    if (one !== undefined && other !== undefined) compare(inner, one, other, changes);
    else if (other !== undefined) tell(inner, other, 'appeared', changes);
    else if (one !== undefined && !becameMap) tell(inner, one, 'vanished', changes);
  }
}

function tell(path: string, place: SeenField, change: 'appeared' | 'vanished', changes: FieldChange[]): void {
  changes.push({ path, change, [change === 'appeared' ? 'to' : 'from']: typesOf(place) });
  for (const [part, inner] of innerPlaces(place, place))
    if (inner !== undefined) tell(`${path}${part}`, inner, change, changes);
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
