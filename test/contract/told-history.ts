import type { mongo } from 'mongoose';
import type { RecordHistory } from '../../src/administration/index.js';
import { RestampNotes } from '../../src/replication/watcher/index.js';
import { send, type Stored, type TestApplication, type TestService } from '../support/index.js';

/** Before every fence. */
export const LONG_AGO = new Date(5);

/** Waits until everything so far is worked through, and what was stamped anew is noted. */
export async function allNoted(service: TestService): Promise<void> {
  await service.watcher.caughtUp();
  await service.app.get(RestampNotes, { strict: false }).flush();
}

/** What the administration answers about a product, when everything so far is noted. */
export async function toldHistory(app: TestApplication, id: unknown): Promise<RecordHistory> {
  const { service, organizationid, appid } = app;
  await allNoted(service);
  const path = `admin/v1/applications/${organizationid}/${appid}/records/product/${String(id)}/history`;
  const { status, json, text } = await send(`${service.url}/${path}`, 'GET', { user: app.user('admin') });
  if (status !== 200) throw new Error(`${status} ${text}`);
  return json as RecordHistory;
}

/** A product that a consumer has read. */
export async function readProduct(
  app: TestApplication,
  fields: mongo.Document = {},
): Promise<Stored & { id: string }> {
  const record = await app.product(fields);
  await app.service.watcher.caughtUp();
  await app.max('product');
  return record as Stored & { id: string };
}

/** A command about the products of an application, or about one of them. */
export function aboutProducts(
  command: string,
  { organizationid, appid }: TestApplication,
  id?: string,
): string {
  const which = id === undefined ? '' : ` --id ${id}`;
  return `${command} --org ${organizationid} --app ${appid} --kind product${which}`;
}
