import type { BasicLogin, HttpAnswer } from './http-answer.js';
import type { JudgedServer } from './target.js';
import type { EnoughText } from './answer-text.js';
import type { Wire } from './wire.js';

export type QueryTexts = Record<string, string | string[] | undefined>;

/** How a request differs from the usual one. */
export interface RequestForm {
  method?: string;
  query?: QueryTexts;
  headers?: Record<string, string>;
  /** `null` sends none. */
  login?: BasicLogin | null;
  /** Sent as JSON. A function is called for each attempt. */
  body?: unknown;
  /** Of an answer that does not end by itself. */
  enough?: EnoughText;
}

/** The judged application behind its HTTP API: all that the kit knows of it. */
export class ApplicationAnswers {
  constructor(
    private readonly wire: Wire,
    readonly target: JudgedServer,
    readonly login: BasicLogin,
  ) {}

  /** Asks for a path behind `/{org}/{app}/api/v1/`. */
  ask(path: string, form: RequestForm = {}): Promise<HttpAnswer> {
    return this.at(this.urlOf(`api/v1/${path}`), form);
  }

  /** Asks for a path behind `/{org}/{app}/api/v0.1/`. */
  write(path: string, form: RequestForm = {}): Promise<HttpAnswer> {
    return this.at(this.urlOf(`api/v0.1/${path}`), form);
  }

  /** Asks for a path of another application. */
  elsewhere(
    organizationid: string,
    appid: string,
    path: string,
    form: RequestForm = {},
  ): Promise<HttpAnswer> {
    return this.at(urlIn({ ...this.target, organizationid, appid }, `api/v1/${path}`), form);
  }

  /** Where a URL of an answer leads, absolute or relative to the request that it answers; only within this server. */
  whereTo(link: string, { sent }: HttpAnswer): URL | undefined {
    if (!URL.canParse(link, sent.url.href)) return undefined;
    const url = new URL(link, sent.url);
    const isHere = url.origin === new URL(this.target.url).origin && url.username + url.password === '';
    return isHere ? url : undefined;
  }

  /** Follows a URL of an answer. One that leads elsewhere gets nothing: the login is for this server alone. */
  async follow(link: string, answer: HttpAnswer): Promise<HttpAnswer | undefined> {
    const url = this.whereTo(link, answer);
    return url && this.at(url);
  }

  private urlOf(path: string): URL {
    return urlIn(this.target, path);
  }

  private at(
    url: URL,
    { method = 'GET', query = {}, headers = {}, login, body, enough }: RequestForm = {},
  ): Promise<HttpAnswer> {
    for (const [name, value] of Object.entries(query))
      for (const one of [value ?? []].flat()) url.searchParams.append(name, one);
    const request = () => ({
      ...{ method, url, login: login === null ? undefined : (login ?? this.login) },
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && {
        body: JSON.stringify(typeof body === 'function' ? (body as () => unknown)() : body),
      }),
    });
    return this.wire.send(request, enough);
  }
}

function urlIn({ url, organizationid, appid }: JudgedServer, path: string): URL {
  const [org, app] = [organizationid, appid].map(encodeURIComponent);
  return new URL(`${url.replace(/\/+$/, '')}/${org}/${app}/${path}`);
}
