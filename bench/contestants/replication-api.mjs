/** The paths and bodies of this service's contract, which the plain service has as well. */
import { URLSearchParams } from 'node:url';
import { TENANT } from '../data/products.mjs';

const BASE = `/${TENANT.organizationid}/${TENANT.appid}/api`;
const UPDATES = 'default/updates';

/** Pages of products, for harvests. */
export const productPages = {
  pagePath: (window) => feedPath('product', UPDATES, window),
  itemsOf: ({ result }) => result,
  nextOf: ({ nextoffsetid }) => nextoffsetid,
};

/** `max` of the products of an application. */
export const maxOf = (appid) => `/${TENANT.organizationid}/${appid}/api/v1/product/max`;

export const PRODUCT_MAX = maxOf(TENANT.appid);

/** Members, written and read through the service. */
export const memberChanges = {
  ...changesOf('member', ({ data }) => data.elevel),
  create: (number) => ({
    method: 'POST',
    path: `${BASE}/v0.1/member`,
    body: { accountnumber: String(number), email: `member-${number}@example.org`, elevel: 1 },
  }),
  createdKey: ({ id }) => id,
  patch: (key) => ({ method: 'PATCH', path: `${BASE}/v0.1/member/${key}`, body: { elevel: 2 } }),
};

/** Products, which other programs write straight into the collection. */
export const productChanges = changesOf('product', ({ data }) => data.version);

/** The updates of all products of another application. */
export function productsOf(appid, window) {
  return feedPath('product', UPDATES, window, `/${TENANT.organizationid}/${appid}/api`);
}

/** A path of a feed such as `default/updates`. */
export function feedPath(kind, feed, { from, to, lastoffsetid, limit }, base = BASE) {
  const query = new URLSearchParams({ to, limit: String(limit), ...(from && { from }) });
  if (lastoffsetid !== '') query.set('lastoffsetid', lastoffsetid);
  return `${base}/v1/${kind}/${feed}?${query}`;
}

/** How a consumer follows a kind: how far it may read, and the pages up to there. */
function changesOf(kind, versionOf) {
  return {
    newestPath: `${BASE}/v1/${kind}/max`,
    newestOf: ({ offset }) => offset,
    pagePath: (window) => feedPath(kind, UPDATES, window),
    itemsOf: ({ result }) => result.map((item) => ({ key: item.id, version: versionOf(item) })),
    nextOf: ({ nextoffsetid }) => nextoffsetid,
  };
}
