import type { mongo } from 'mongoose';
import type { TestApplication } from '../support/index.js';

/** As far as the clock goes. */
export const TO_NOW = { query: { to: '9999-12-31T23:59:59.999Z' } };

/** A value that no answer may contain. */
export const CANARY = 'canary-5b1f';

/** Changes the document of a service, as an operator does by hand, and waits until that is in force. */
export async function setService(
  app: TestApplication,
  name: string,
  update: mongo.Document,
  kind = 'product',
): Promise<void> {
  const key = { ...app.tenant, kind, name };
  const services = app.service.db.collection('services');
  await services.updateOne(key, { ...update, $setOnInsert: key }, { upsert: true });
  await app.service.watcher.caughtUp();
}

/** The `data` of each record in `updates`, by its id. */
export async function dataOf(
  app: TestApplication,
  name: string,
  from?: Date,
): Promise<Record<string, unknown>> {
  const to = await app.max('product');
  const items = await app.feed('product', name).drain({ to, ...(from && { from }) });
  return Object.fromEntries(items.map(({ id, data }) => [id, data]));
}
