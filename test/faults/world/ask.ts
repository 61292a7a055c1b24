import { setTimeout as wait } from 'node:timers/promises';
import type { Tenant } from '../../../src/record/index.js';
import { PASSWORD } from '../../support/index.js';
import type { Random } from '../plan/index.js';
import { USERNAME } from './operator.js';
import type { World } from './world.js';

const ANSWER_MS = 5000;

export interface AskRequest {
  method?: 'POST' | 'PATCH';
  /** Behind `/{org}/{app}/api/`. */
  path: string;
  /** Sent as JSON. */
  body?: object;
  /** Left out, it is that whose records the writers change. */
  tenant?: Tenant;
}

export interface WholeAnswer {
  status: number;
  text: string;
  /** The header Tidemark-To. */
  to: string;
}

/** The credential of all who follow. */
export const headers = {
  authorization: `Basic ${Buffer.from(`${USERNAME}:${PASSWORD}`).toString('base64')}`,
  'content-type': 'application/json',
};

/** A request through either instance; nothing where no whole answer came: it is down, held still or just killed. */
export async function ask(
  { services, source }: World,
  random: Random,
  { method, path, body, tenant = source.tenant }: AskRequest,
): Promise<WholeAnswer | undefined> {
  const { url } = random.pick(services);
  if (url === undefined) return undefined;
  const { organizationid, appid } = tenant;
  const left = new AbortController();
  const answered = wholeAnswer(`${url}/${organizationid}/${appid}/api/${path}`, {
    method: method ?? 'GET',
    headers,
    body: body === undefined ? null : JSON.stringify(body),
    signal: left.signal,
  });
  // A signal alone may not end the wait for a body whose server is gone.
  const ended = new AbortController();
  const late = wait(ANSWER_MS, undefined, { signal: ended.signal }).catch(() => undefined);
  try {
    return await Promise.race([answered, late]);
  } finally {
    ended.abort();
    left.abort();
  }
}

async function wholeAnswer(url: string, request: RequestInit): Promise<WholeAnswer | undefined> {
  try {
    const answer = await fetch(url, request);
    const to = answer.headers.get('tidemark-to') ?? '';
    return { status: answer.status, text: await answer.text(), to };
  } catch {
    return undefined;
  }
}
