import { send, type TestApplication, TestService } from '../support/index.js';
import { builtCommit, VERSION } from '../support/build.js';

let service: TestService;
let app: TestApplication;
let root: string;

beforeAll(async () => {
  service = await TestService.shared();
  app = await service.application();
  root = await app.credential({ level: 'admin', scopes: [{ organizationid: '*', appid: '*' }] });
});

const get = (path: string, user?: string) =>
  send(`${service.url}${path}`, 'GET', user === undefined ? {} : { user });

describe('The version of the service, the commit that it was built from, and the version of Node', () => {
  it('are in `GET /admin/v1/status`', async () => {
    const { json } = await get('/admin/v1/status', root);
    expect(json).toMatchObject({ version: VERSION, commit: builtCommit(), node: process.version });
  });

  it('are labels of `tidemark_build_info`', async () => {
    const info = /^tidemark_build_info\{version="([^"]+)",commit="([^"]+)",node="([^"]+)"\} 1$/m;
    const [, ...labels] = info.exec((await get('/metrics')).text) ?? [];
    expect(labels).toEqual([VERSION, builtCommit(), process.version]);
  });

  it('the version is `info.version` of the OpenAPI document', async () => {
    expect((await get('/openapi.json')).json).toMatchObject({ info: { version: VERSION } });
  });

  it('the version is in the answer that says who is signed in at the console', async () => {
    expect((await get('/admin/v1/session', root)).json).toMatchObject({ username: root, version: VERSION });
  });
});
