import { connect } from 'node:net';
import { PASSWORD, send, type TestApplication, TestService } from '../support/index.js';

let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.start();
  app = await service.application();
});
afterAll(() => service.stop());

const statusOf = async (path: string) => {
  const login = Buffer.from(`${app.user('admin')}:${PASSWORD}`).toString('base64');
  return (await send(`${service.url}${path}`, 'GET', { headers: { authorization: `Basic ${login}` } }))
    .status;
};

/** Pages with paths below them. */
const PAGES = ['/docs', '/console'];

/** Paths that are served, for which a proxy in front may have a rule. */
const served = () => [
  '/metrics',
  '/health/live',
  '/health/ready',
  '/openapi.json',
  ...PAGES,
  '/admin/v1/applications',
  `/${app.organizationid}/${app.appid}/api/v1/product/max`,
];

it('a path is served as it is written, and in no other way', async () => {
  for (const path of served()) {
    const [, first = ''] = path.split('/');
    const others = [
      path.replace(first, first.toUpperCase()),
      ...(PAGES.includes(path) ? [] : [`${path}/`]),
      path.replace(/[a-z](?=[^/]*$)/, (letter) => letter.toUpperCase()),
    ];
    expect([path, await statusOf(path)]).toEqual([path, 200]);
    for (const other of others) expect([other, await statusOf(other)]).toEqual([other, 404]);
  }
});

it('an idle connection is kept for longer than a load balancer keeps it', async () => {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  socket.write('GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n');
  const answer = await new Promise<Buffer>((resolve) => socket.once('data', resolve));
  socket.destroy();
  expect(answer.toString()).toMatch(/^Keep-Alive: timeout=75\r$/m);
});
