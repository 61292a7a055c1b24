import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hashPassword } from '../../src/auth/index.js';
import {
  type Answer,
  PASSWORD,
  send,
  stripping,
  type TestApplication,
  TestService,
} from '../support/index.js';

const PREFIX = '/tidemark';
const FAR = '9999-01-01T00:00:00.000Z';
const CHANNEL = 'a/b <"c">?';
const ROOT = 'root-behind-a-prefix';

let service: TestService;
let app: TestApplication;
let proxy: Server;
let base: string;

beforeAll(async () => {
  service = await TestService.start();
  app = await service.application();
  for (const id of ['a', 'b', 'c', 'd']) await app.product({ id, channels: [CHANNEL] });
  for (const id of ['e', 'f']) await app.remove('product', await app.product({ id }));
  await app.filter('product', 'some', { id: 'a' });
  await service.db.collection('credentials').insertOne({
    username: ROOT,
    passwordhash: await hashPassword(PASSWORD),
    level: 'admin',
    scopes: [{ organizationid: '*', appid: '*' }],
  });
  await service.watcher.caughtUp();
  proxy = await stripping({ [PREFIX]: service.url });
  base = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${PREFIX}`;
});
afterAll(async () => {
  proxy.closeAllConnections();
  proxy.close();
  await once(proxy, 'close');
  await service.stop();
});

/** An answer through the proxy, and where a reference in it leads. */
async function through(url: URL, method = 'GET', user = app.user('write'), body?: unknown) {
  const answer = await send(url.href, method, { user, ...(body !== undefined && { body }) });
  const follow = (reference: string | undefined) => through(new URL(reference ?? '', url), 'GET', user);
  return { ...answer, follow };
}

const inApp = (path: string) => new URL(`${base}/${app.organizationid}/${app.appid}/api/${path}`);
const linkOf = ({ headers }: Pick<Answer, 'headers'>) =>
  /^<([^<>"]+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1];
const idsOf = ({ json }: Pick<Answer, 'json'>) =>
  (json as { result: { id: string }[] }).result.map(({ id }) => id).sort();

it.each([
  ['product/default/updates', ['a', 'b'], ['c', 'd']],
  ['product/some/softdeletes', ['b', 'c'], ['d']],
  ['product/harddeletes', ['e', 'f'], []],
  [`productbychannel/${encodeURIComponent(CHANNEL)}/updates`, ['a', 'b'], ['c', 'd']],
])('a `Link` of %s leads to the next page', async (path, first, second) => {
  const page = await through(inApp(`v1/${path}?to=${FAR}&limit=2`));
  expect(idsOf(page)).toEqual(first);
  const next = await page.follow(linkOf(page));
  expect([next.status, idsOf(next)]).toEqual([200, second]);
});

it.each([['product/default'], [`productbychannel/${encodeURIComponent(CHANNEL)}`]])(
  '`next` of %s/changes is the relative URL of the next page',
  async (path) => {
    const page = await through(inApp(`v1/${path}/changes?limit=2`));
    const next = await page.follow((page.json as { next?: string }).next);
    expect([next.status, idsOf(page), idsOf(next)]).toEqual([200, ['a', 'b'], ['c', 'd']]);
  },
);

it('the `Location` of what was made leads to it', async () => {
  const members = inApp('v0.1/member');
  const body = { accountnumber: '1', email: 'prefix@example.org' };
  const made = await through(members, 'POST', app.user('write'), body);
  const member = await made.follow(made.headers.get('location') ?? undefined);
  expect([made.status, member.status, member.text]).toEqual([201, 200, made.text]);

  const application = { organizationid: app.organizationid, appid: `${app.appid}-2` };
  const registered = await through(new URL(`${base}/admin/v1/applications`), 'POST', ROOT, application);
  const shown = await registered.follow(registered.headers.get('location') ?? undefined);
  expect([registered.status, shown.status, shown.json]).toEqual([
    201,
    200,
    expect.objectContaining(application),
  ]);

  const credential = { username: `x/${app.appid}+b?`, level: 'read', scopes: [application] };
  const issued = await through(new URL(`${base}/admin/v1/credentials`), 'POST', ROOT, credential);
  const known = await issued.follow(issued.headers.get('location') ?? undefined);
  expect([issued.status, known.status]).toEqual([201, 200]);
});
