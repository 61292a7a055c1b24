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

const TEXTS = ['id', 'type', 'createDate', 'createdBy', 'lastupdated'];
const PROPERTIES = [...TEXTS, 'data', 'channels'];

/** What is wrong with an update item, in words; nothing where it is right. */
export function faultOfUpdate(item: Record<string, unknown>, kind: string): string | undefined {
  const missing = TEXTS.find((name) => typeof item[name] !== 'string');
  if (missing !== undefined) return `${missing} as a text`;
  const { data, channels } = item;
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return 'data as an object';
  const isText = (one: unknown) => typeof one === 'string';
  if (channels === undefined ? kind === 'product' : !(Array.isArray(channels) && channels.every(isText)))
    return kind === 'product'
      ? 'channels as a list of texts, [] if there are none'
      : 'channels as a list of texts';
  const added = Object.keys(item).find((name) => !PROPERTIES.includes(name));
  return added === undefined ? undefined : `nothing but ${PROPERTIES.join(', ')}`;
}

/** Whether an object has these properties, each once, and no others. */
export function hasExactly(value: Record<string, unknown>, names: string[]): boolean {
  const own = Object.keys(value);
  return own.length === names.length && names.every((name) => own.includes(name));
}
