import type { BasicLogin, HttpAnswer } from './http-answer.js';
import type { JudgedServer } from './target.js';
import type { Wire } from './wire.js';

export type QueryTexts = Record<string, string | string[] | undefined>;

/** How a request differs from the usual one. */
export interface RequestForm {
  method?: string;
  query?: QueryTexts;
  headers?: Record<string, string>;
  /** `null` sends none. */
  login?: BasicLogin | null;
  /** Sent as JSON. */
  body?: unknown;
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

  /** Follows a URL of an answer, absolute or relative to the request that it answers. */
  follow(link: string, { sent }: HttpAnswer): Promise<HttpAnswer> {
    return this.at(new URL(link, sent.url));
  }

  private urlOf(path: string): URL {
    return urlIn(this.target, path);
  }

  private at(
    url: URL,
    { method = 'GET', query = {}, headers = {}, login, body }: RequestForm = {},
  ): Promise<HttpAnswer> {
    for (const [name, value] of Object.entries(query))
      for (const one of [value ?? []].flat()) url.searchParams.append(name, one);
    return this.wire.send({
      ...{ method, url, login: login === null ? undefined : (login ?? this.login) },
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }
}

function urlIn({ url, organizationid, appid }: JudgedServer, path: string): URL {
  const [org, app] = [organizationid, appid].map(encodeURIComponent);
  return new URL(`${url.replace(/\/+$/, '')}/${org}/${app}/${path}`);
}
