import { appendFileSync } from 'node:fs';
import type { mongo } from 'mongoose';
import { BUILT_IN_KINDS } from '../../src/kinds/index.js';

/*
 * With TIDEMARK_TEST_CANARY every record of a test has this value in a field that the services of its application hide, whatever
 * the test is about, and every answer is searched for it. The file TIDEMARK_TEST_SEARCHED gets a line for each of these answers
 * (`npm run test:long -- --only canaries`). Many tests fail meanwhile, because records and services are not as they made them.
 */

const { TIDEMARK_TEST_CANARY: CANARY, TIDEMARK_TEST_SEARCHED: SEARCHED = '' } = process.env;
const HIDDEN = { fields: { except: ['data.canary'] } };

/** Paths that show a record as it is stored, or as the body of the request wants it. */
const AS_STORED =
  /\/api\/v0\.1\/member|^\/admin\/v1\/(configuration|applications\/[^/]+\/[^/]+\/(records|preview))\//;
const FEED = /^\/([^/]+)\/([^/]+)\/api\/v1\/([^/]+)\/([^/]+)\//;

/** The databases of the services of this process, by the origin of their URLs. */
const databases = new Map<string, mongo.Db>();

export function searchAnswersOf(url: string, db: mongo.Db): void {
  if (CANARY !== undefined) databases.set(new URL(url).origin, db);
}

/** The record as it is stored. */
export function withCanary<T extends mongo.Document>(record: T): T {
  const data = record['data'] as unknown;
  const isObject =
    typeof data === 'object' && data !== null && Object.getPrototypeOf(data) === Object.prototype;
  return CANARY !== undefined && isObject ? { ...record, data: { ...data, canary: CANARY } } : record;
}

/** The document of a service. One with fields of its own, which a test looks at, keeps them. */
export function hidingCanary<T extends mongo.Document>(service: T): T {
  return CANARY !== undefined && !('fields' in service) ? { ...service, ...HIDDEN } : service;
}

/** The documents of `default` of a new application. */
export function defaultsHidingCanary(tenant: mongo.Document): mongo.Document[] {
  const kinds = CANARY === undefined ? [] : BUILT_IN_KINDS;
  return kinds.map((kind) => ({ ...tenant, kind, name: 'default', ...HIDDEN }));
}

/** Reports an answer, and whether it shows the value although the service hides it. */
export async function searchAnswer(
  { origin, pathname, search }: URL,
  headers: Headers,
  text: string,
): Promise<void> {
  if (CANARY === undefined || AS_STORED.test(pathname)) return;
  const isShown = `${text}${JSON.stringify([...headers])}`.includes(CANARY);
  const isWrong = isShown && (await isHidden(databases.get(origin), pathname));
  appendFileSync(SEARCHED, isWrong ? `shown by ${pathname}${search}\n` : 'searched\n');
}

/** Whether the service of a path hides the field. A test may have registered one that does not. */
async function isHidden(db: mongo.Db | undefined, pathname: string): Promise<boolean> {
  const [, organizationid, appid, kind, name] = FEED.exec(decodeURIComponent(pathname)) ?? [];
  if (db === undefined || name === undefined) return true;
  const ofChannel = kind === 'productbychannel';
  const key = { kind: ofChannel ? 'product' : kind, name: ofChannel ? 'default' : name };
  const stored = await db.collection('services').findOne({ organizationid, appid, ...key });
  return JSON.stringify(stored?.['fields']) === JSON.stringify(HIDDEN.fields);
}
