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

/** Sets up a database in which nothing is yet. */
export async function furnish(db) {
  const { username, password } = CREDENTIAL;
  const passwordhash = await hashPassword(password);
  const services = Object.entries(FILTERS).map(([name, filter]) => ({
    ...TENANT,
    ...{ kind: 'product', name, filter },
  }));
  await db.collection('services').insertMany(services);
  await db.collection('credentials').insertOne({ username, passwordhash, level: 'write', scopes: [TENANT] });
  await db.collection('applications').insertOne({ ...TENANT, title: 'Bench' });
}
