import { type IncomingMessage, request } from 'node:http';
import { PASSWORD, type TestApplication, TestService } from '../support/index.js';

let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.start();
  app = await service.application();
});
afterAll(() => service.stop());

/** A path as it is written, which `fetch` would put in order before. */
function statusOf(path: string, method = 'GET', user: string | null = app.user('admin')): Promise<string> {
  const { hostname, port } = new URL(service.url);
  const login = user === null ? {} : { auth: `${user}:${PASSWORD}` };
  return new Promise((resolve, reject) => {
    request({ hostname, port, path, method, ...login, agent: false }, (answer) => {
      let text = '';
      if (!isProblem(answer)) {
        answer.destroy();
        return resolve(String(answer.statusCode));
      }
      answer.on('data', (piece: Buffer) => (text += piece.toString()));
      answer.on('end', () => {
        const { type } = (text === '' ? { type: '' } : JSON.parse(text)) as { type: string };
        resolve(`${answer.statusCode} ${type.split(':').at(-1)}`);
      });
    })
      .on('error', reject)
      .end();
  });
}

const isProblem = ({ headers }: IncomingMessage) =>
  headers['content-type']?.startsWith('application/problem+json') === true;

const stack = () => service.app.getHttpAdapter().getInstance().router.stack;

/** The paths of all routes, with names in place of parameters. */
const paths = () => {
  const patterns = new Set(stack().flatMap(({ route }) => (route === undefined ? [] : [route.path])));
  return [...patterns].map((pattern) =>
    pattern.replace('/:org/:app/api', `/${app.organizationid}/${app.appid}/api`).replace(/:\w+/g, NAME),
  );
};
const NAME = 'NAME';

const isLiteral = (part: string | undefined) =>
  part !== undefined && /^[a-z]/.test(part) && part !== app.organizationid && part !== app.appid;
const encoded = (text: string) => `%${text.charCodeAt(0).toString(16).toUpperCase()}`;

/** Other ways to write a path, at each of its parts that is no name. */
function othersOf(path: string): string[] {
  const parts = path.split('/').slice(1);
  const others = [`/${path}`, `/.${path}`, `/x/..${path}`, `/%2e${path}`, `/x/%2E%2E${path}`];
  parts.forEach((part, index) => {
    if (!isLiteral(part)) return;
    const changed = (...other: string[]) => `/${parts.toSpliced(index, 1, ...other).join('/')}`;
    others.push(
      changed(part.toUpperCase()),
      changed(part.replace(/^./, (letter) => letter.toUpperCase())),
      changed(part.replace(/.$/, (letter) => letter.toUpperCase())),
      changed(part.replace(/^./, encoded)),
      changed(part.replace(/.$/, encoded)),
      changed(`${part};x`),
      changed(`${part}%20`),
      changed(`${part}%00`),
      changed(`${part}.`),
      changed(part, ''),
      changed(part, '.'),
      changed(part, 'x', '..'),
      changed('', part),
      changed('.', part),
    );
    const next = parts[index + 1];
    if (isLiteral(next))
      for (const slash of ['%2F', '%2f', '%5C', '\\'])
        others.push(`/${parts.toSpliced(index, 2, `${part}${slash}${next}`).join('/')}`);
  });
  return [...new Set(others)].filter((other) => other !== path);
}

it('all that is served is a route: no folder is, whose paths have other ways to be written', () => {
  const mounted = stack().filter(
    (layer) => layer.route === undefined && !(layer as { slash?: boolean }).slash,
  );
  expect(mounted.map(({ name }) => name)).toEqual([]);
});

it('a path is served as it is written, and in no other way', async () => {
  const all = paths();
  for (const path of [
    '/metrics',
    '/health/live',
    '/openapi.json',
    '/docs',
    '/console',
    '/admin/v1/applications',
  ])
    expect(all).toContain(path);
  const served: string[] = [];
  for (const path of all) {
    expect([path, await statusOf(path, 'PROPFIND')]).toEqual([path, '405 method-not-allowed']);
    for (const other of othersOf(path))
      if ((await statusOf(other)) !== '404 not-found')
        served.push(`${path} as ${other}: ${await statusOf(other)}`);
  }
  expect(served).toEqual([]);
});

it("HEAD is served where GET is, and no other method that is not the path's own", async () => {
  for (const path of paths()) {
    const head = await statusOf(path, 'HEAD');
    const get = await statusOf(path);
    expect([path, head.split(' ')[0]]).toEqual([path, get.split(' ')[0]]);
    for (const method of ['OPTIONS', 'TRACE'])
      expect([path, method, await statusOf(path, method)]).toEqual([path, method, '405 method-not-allowed']);
  }
});

it.each([
  ['http://x/metrics', '200'],
  ['HTTP://x/metrics', '200'],
  ['http://x/metrics/', '404 not-found'],
  ['http://x/METRICS', '404 not-found'],
  ['http://x/./metrics', '404 not-found'],
  ['http://x//metrics', '404 not-found'],
  ['http://x/health\\live', '404 not-found'],
  ['http://x\\metrics', '400 invalid-request'],
  ['http:///metrics', '400 invalid-request'],
  ['ftp://x/metrics', '400 invalid-request'],
  ['http://x/metrics#', '400 invalid-request'],
  ['/metrics#', '400 invalid-request'],
  ['/metrics#x', '400 invalid-request'],
  ['/health\\live#', '400 invalid-request'],
  ['/metrics?x#', '400 invalid-request'],
  ['/metrics?', '200'],
  ['/metrics?x=/../y', '200'],
  ['//x/metrics', '404 not-found'],
  ['*', '400 invalid-request'],
])('as a target of a request, %s is %s', async (target, status) => {
  expect(await statusOf(target, 'GET', null)).toBe(status);
});
