/** What an operator sets up before the service has anything to do: an application, its filters, and one credential. */
import { hashPassword } from '../../dist/auth/index.js';
import { TENANT } from './products.mjs';

/** The one login that every contestant takes. */
export const CREDENTIAL = { username: 'bench', password: 'bench-password' };

/** Services of the products: a filter that takes one of twenty, and one that takes half of them. */
export const FILTERS = {
  twentieth: { 'data.number': { $mod: [20, 0] } },
  half: { 'data.number': { $mod: [2, 0] } },
};

/** Sets up a database in which nothing is yet, with further applications where they are named. */
export async function furnish(db, appids = []) {
  const { username, password } = CREDENTIAL;
  const passwordhash = await hashPassword(password);
  const scopes = [{ ...TENANT, appid: '*' }];
  const services = Object.entries(FILTERS).map(([name, filter]) => ({
    ...TENANT,
    ...{ kind: 'product', name, filter },
  }));
  await db.collection('services').insertMany(services);
  await db.collection('credentials').insertOne({ username, passwordhash, level: 'write', scopes });
  await db
    .collection('applications')
    .insertMany([TENANT.appid, ...appids].map((appid) => ({ ...TENANT, appid, title: 'Bench' })));
}
