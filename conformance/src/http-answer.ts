/** One HTTP request of the kit. */
export interface SentRequest {
  method: string;
  url: URL;
  headers: Record<string, string>;
  /** User name and password; nothing for a request without credentials. */
  login: BasicLogin | undefined;
  body?: string;
}

export interface BasicLogin {
  username: string;
  password: string;
}

/** What came back. */
export interface HttpAnswer {
  sent: SentRequest;
  status: number;
  headers: Headers;
  text: string;
  /** The parsed body; undefined where it is not JSON. */
  json: unknown;
}

const MOST_SHOWN = 160;
const GIVEN_LOGIN = '"$TIDEMARK_USERNAME:$TIDEMARK_PASSWORD"';

/** The body as an object; an empty one where it is something else. */
export function bodyOf({ json }: Pick<HttpAnswer, 'json'>): Record<string, unknown> {
  return isObject(json) ? json : {};
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What a text is in JSON; undefined where it is none. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** A value as JSON, cut where it is long. */
export function brief(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text;
}

/** Status and body in short, such as `404 {"type":…}`. */
export function summaryOf({ status, text }: Pick<HttpAnswer, 'status' | 'text'>): string {
  const body = text.trim();
  return `${status} ${body.length > MOST_SHOWN ? `${body.slice(0, MOST_SHOWN)}…` : body}`.trim();
}

/** A line for a shell that sends the same request. The password is read from the environment. */
export function curlOf({ method, url, headers, login, body }: SentRequest, given: BasicLogin): string {
  const user = login?.password === given.password ? GIVEN_LOGIN : quoted(`${login?.username}:wrong`);
  return [
    'curl -sS -i',
    ...(method === 'GET' ? [] : method === 'HEAD' ? ['-I'] : [`-X ${method}`]),
    ...(login === undefined ? [] : [`-u ${user}`]),
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-d ${quoted(body)}`]),
    quoted(url.href),
  ].join(' ');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
