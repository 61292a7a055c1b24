import type { Service } from '../api/types.js';

/** Which fields are shown: all, all `except` those of a list, or `only` those. */
export const EXTENTS = ['all', 'except', 'only'] as const;
type Extent = (typeof EXTENTS)[number];

/** The fields that a service shows, and those that it shows as a hash. */
export interface ShownFields {
  extent: Extent;
  paths: string[];
  hash: string[];
}

/** The same as the form holds it: a list has a path in each line. */
export interface FieldsDraft {
  extent: Extent;
  paths: string;
  hash: string;
  allowHiddenFilter: boolean;
}

/** What the service finds wrong, at a JSON pointer. */
export interface Fault {
  pointer?: string;
  detail: string;
}

type Stored = Pick<Service, 'fields' | 'hash' | 'allowHiddenFilter'>;

/** What a service chooses; undefined if that has another shape, so that the service delivers nothing. */
export function shownFieldsOf({
  fields = {},
  hash = [],
  allowHiddenFilter,
}: Stored): ShownFields | undefined {
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) return undefined;
  const { only, except, hash: within = [], ...others } = fields as Record<string, unknown>;
  const paths = only ?? except ?? [];
  if (!isPaths(paths) || !isPaths(hash) || !isPaths(within)) return undefined;
  if ((only !== undefined && except !== undefined) || Object.keys(others).length > 0) return undefined;
  if (!['boolean', 'undefined'].includes(typeof allowHiddenFilter)) return undefined;
  const extent = only !== undefined ? 'only' : paths.length > 0 ? 'except' : 'all';
  return { extent, paths, hash: [...new Set([...hash, ...within])] };
}

/** What cannot be read becomes a list that shows nothing, so that no field is shown by surprise. */
export function draftOf(stored: Stored): FieldsDraft {
  const { extent, paths, hash } = shownFieldsOf(stored) ?? { extent: 'only', paths: [], hash: [] };
  const allowHiddenFilter = stored.allowHiddenFilter === true;
  return { extent, paths: linesOf(paths), hash: linesOf(hash), allowHiddenFilter };
}

/** The properties of a service that a draft stands for; null removes what is stored. */
export function settingOf({ extent, paths, hash, allowHiddenFilter }: FieldsDraft) {
  const [chosen, hashed] = [paths, hash].map((text) => linesIn(text).map(({ path }) => path));
  const isAll = extent === 'all' || (extent === 'except' && chosen!.length === 0);
  return {
    fields: isAll ? null : { [extent]: chosen },
    hash: hashed!.length === 0 ? null : hashed,
    allowHiddenFilter: allowHiddenFilter ? true : null,
  };
}

/** What is wrong in a list at a pointer such as `/hash`, said of its line if it is about one path. */
export function faultIn(text: string, pointer: string, faults: Fault[]): string | undefined {
  const found = faults.find((fault) => fault.pointer === pointer || fault.pointer?.startsWith(`${pointer}/`));
  if (found === undefined) return undefined;
  const line = linesIn(text)[Number(found.pointer!.slice(pointer.length + 1) || NaN)];
  return `${line === undefined ? 'The list' : `The path in line ${line.number}`} ${found.detail}`;
}

function isPaths(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((path) => typeof path === 'string');
}

/** A path that a line cannot hold as it is, such as one with a space at its end, is written as JSON. */
function linesOf(paths: string[]): string {
  const isPlain = (path: string) => path !== '' && path === path.trim() && !/[\n\r"]/.test(path);
  return paths.map((path) => (isPlain(path) ? path : JSON.stringify(path))).join('\n');
}

function linesIn(text: string): { number: number; path: string }[] {
  return text
    .split('\n')
    .map((line, index) => ({ number: index + 1, path: line.trim() }))
    .filter(({ path }) => path !== '')
    .map(({ number, path }) => ({ number, path: path.startsWith('"') ? unquoted(path) : path }));
}

function unquoted(text: string): string {
  try {
    return String(JSON.parse(text));
  } catch {
    return text;
  }
}
