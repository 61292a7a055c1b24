/** A line of two items as JSON, in one of them or in both; `path` names the field in which they differ there. */
export interface Row {
  before?: string;
  after?: string;
  path?: string;
}

/** Where a value is in its item. */
interface Place {
  path: string;
  indent: string;
  /** What precedes the value, such as the name of its property. */
  label: string;
  /** What follows it in each item. */
  comma: { before: string; after: string };
}

const STEP = '  ';
/** Lines around a difference that are shown. */
const CONTEXT = 3;
/** Fewer lines are not worth leaving out. */
const LEAST_LEFT_OUT = 3;

/** The lines of two items. Those of both have the same text, up to a comma. */
export function rowsBetween(before: unknown, after: unknown): Row[] {
  return rowsAt({ before, after }, { path: '', indent: '', label: '', comma: { before: '', after: '' } });
}

/** The fields in which rows differ, each once; the elements of a list have its path. */
export function differingFields(rows: Row[]): string[] {
  return [...new Set(rows.flatMap(({ path }) => path ?? []))];
}

/** Replaces lines far from each difference by one that says how many they are; of equal items, none. */
export function shortened(rows: Row[]): Row[] {
  const places = rows.flatMap(({ path }, index) => (path === undefined ? [] : index));
  if (places.length === 0) return rows;
  const isNear = (index: number) => places.some((place) => Math.abs(place - index) <= CONTEXT);
  const short: Row[] = [];
  for (let index = 0; index < rows.length; index += 1) {
    let end = index;
    while (end < rows.length && !isNear(end)) end += 1;
    if (end - index < LEAST_LEFT_OUT) short.push(rows[index]!);
    else {
      const text = `⋮ ${end - index} lines`;
      short.push({ before: text, after: text });
      index = end - 1;
    }
  }
  return short;
}

function rowsAt({ before, after }: { before: unknown; after: unknown }, place: Place): Row[] {
  const { path, indent, label, comma } = place;
  if (isObject(before) && isObject(after) && Array.isArray(before) === Array.isArray(after))
    return rowsWithin(before, after, place);
  if (before === after) {
    const text = `${indent}${label}${JSON.stringify(before)}`;
    return [{ before: text + comma.before, after: text + comma.after }];
  }
  return [
    ...written(before, indent, label, comma.before).map((text) => ({ before: text, path })),
    ...written(after, indent, label, comma.after).map((text) => ({ after: text, path })),
  ];
}

function rowsWithin(
  before: Record<string, unknown>,
  after: Record<string, unknown>,
  { path, indent, label, comma }: Place,
): Row[] {
  const names = merged(Object.keys(before), Object.keys(after));
  const lastIn = (item: object) => names.findLast((name) => Object.hasOwn(item, name));
  const last = { before: lastIn(before), after: lastIn(after) };
  const [open, close] = Array.isArray(before) ? ['[', ']'] : ['{', '}'];
  const begins = (name: string | undefined, end: string) =>
    `${indent}${label}${open}${name === undefined ? close + end : ''}`;
  const ends = {
    ...(last.before !== undefined && { before: `${indent}${close}${comma.before}` }),
    ...(last.after !== undefined && { after: `${indent}${close}${comma.after}` }),
  };
  const within = names.flatMap((name) =>
    rowsAt(
      { before: own(before, name), after: own(after, name) },
      {
        path: Array.isArray(before) ? path : [path, name].filter(Boolean).join('.'),
        indent: indent + STEP,
        label: Array.isArray(before) ? '' : `${JSON.stringify(name)}: `,
        comma: {
          before: name === last.before ? '' : ',',
          after: name === last.after ? '' : ',',
        },
      },
    ),
  );
  return [
    { before: begins(last.before, comma.before), after: begins(last.after, comma.after) },
    ...within,
    ...(Object.keys(ends).length === 0 ? [] : [ends]),
  ];
}

/** The names of both, each once, in the order of both as far as they agree. */
function merged(names: string[], others: string[]): string[] {
  const all: string[] = [];
  const rest = [...others];
  for (const name of names) {
    const index = rest.indexOf(name);
    const isNext = index >= 0 && rest.slice(0, index).every((one) => !names.includes(one));
    all.push(...(isNext ? rest.splice(0, index) : []), name);
    if (index >= 0) rest.splice(rest.indexOf(name), 1);
  }
  return [...all, ...rest];
}

/** The lines of a value; none if it is absent. */
function written(value: unknown, indent: string, label: string, comma: string): string[] {
  if (value === undefined) return [];
  const [first, ...others] = `${JSON.stringify(value, null, STEP)}${comma}`.split('\n');
  return [`${label}${first}`, ...others].map((text) => indent + text);
}

function own(item: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(item, name) ? item[name] : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
