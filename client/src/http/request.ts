/** A request to the service: what of it does not depend on the client that sends it. */
export interface Request {
  method: 'GET' | 'POST' | 'PATCH';
  /** Behind the application, such as `['api/v1', 'member', 'max']`. Each part but the first is one segment. */
  path: [version: string, ...parts: string[]];
  query?: Record<string, QueryValue>;
  headers?: Record<string, string | undefined>;
  /** Sent as JSON. */
  body?: unknown;
  signal?: AbortSignal | undefined;
}

/** A list is sent as a parameter that is given several times. */
export type QueryValue = string | number | Date | undefined | (string | number)[];

/** Path and query behind `/{org}/{app}/`. Throws a TypeError that names an invalid date. */
export function addressOf({ path: [version, ...parts], query = {} }: Request): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const one of Array.isArray(value) ? value : [value])
      if (one !== undefined) search.append(name, one instanceof Date ? timeOf(name, one) : String(one));
  const path = [version, ...parts.map(encodeURIComponent)].join('/');
  return [path, ...[search.toString()].filter((text) => text !== '')].join('?');
}

function timeOf(name: string, date: Date): string {
  if (!Number.isNaN(date.getTime())) return date.toISOString();
  throw new TypeError(
    `${name} is not a time. Give a valid Date, or a text such as 2026-11-20T10:00:00.000Z.`,
  );
}

/** The headers that are given. */
export function headersOf({ headers = {}, body }: Request): Record<string, string> {
  const given = Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return {
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    ...Object.fromEntries(given),
  };
}
