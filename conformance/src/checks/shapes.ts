import type { JudgedServer } from '../target.js';

/** `YYYY-MM-DDTHH:mm:ss.sssZ`. */
const STAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
export const OBJECT_ID = /^[0-9a-f]{24}$/;

export function isStamp(value: unknown): value is string {
  return typeof value === 'string' && STAMP.test(value) && !Number.isNaN(Date.parse(value));
}

/** A stamp some milliseconds later. */
export function shifted(stamp: string, ms: number): string {
  return new Date(Date.parse(stamp) + ms).toISOString();
}

/** Later than any clock. */
export const FAR = '9999-01-01T00:00:00.000Z';

const TEXTS = ['id', 'type', 'createDate', 'lastupdated'];
const PROPERTIES = [...TEXTS, 'data'];

/** What is wrong with an update item, in words; undefined if it is right. */
export function faultOfUpdate(
  { createdBy, channels, ...item }: Record<string, unknown>,
  { kind, hasFields = false }: Pick<JudgedServer, 'kind' | 'hasFields'>,
): string | undefined {
  const missing = TEXTS.find((name) => typeof item[name] !== 'string');
  if (missing !== undefined) return `${missing} as a string`;
  if (typeof createdBy !== 'string' && !(hasFields && createdBy === undefined))
    return 'createdBy as a string';
  const { data } = item;
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return 'data as an object';
  const isText = (one: unknown) => typeof one === 'string';
  const isLeftOut = channels === undefined && (hasFields || kind !== 'product');
  const isList = Array.isArray(channels) && channels.every(isText);
  if (!isLeftOut && !isList && !(hasFields && isText(channels)))
    return kind === 'product'
      ? 'channels as a list of strings, [] if there are none'
      : 'channels as a list of strings';
  const added = Object.keys(item).find((name) => !PROPERTIES.includes(name));
  return added === undefined
    ? undefined
    : `no other properties than ${PROPERTIES.join(', ')}, createdBy, channels`;
}

/** Whether an object has these properties, each once, and no others. */
export function hasExactly(value: Record<string, unknown>, names: string[]): boolean {
  const own = Object.keys(value);
  return own.length === names.length && names.every((name) => own.includes(name));
}
