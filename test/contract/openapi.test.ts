import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expectProblem, FEED_PATHS, MAX_PATHS, send, TestService } from '../support/index.js';

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema?: { type?: string; pattern?: string; minimum?: number; maximum?: number; default?: unknown };
}

interface Operation {
  operationId: string;
  summary?: string;
  tags: string[];
  parameters: Parameter[];
  requestBody?: { required?: boolean; content: Record<string, { schema: { $ref?: string } }> };
  responses: Record<string, { content?: Record<string, { schema: object }>; headers?: object }>;
  security?: object[];
}

interface OpenApi {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  servers: { url: string; description: string }[];
  tags: { name: string; description: string }[];
  components: { schemas: Record<string, unknown>; securitySchemes: Record<string, object> };
}

const READ = '/{org}/{app}/api/v1/';
const WRITE = '/{org}/{app}/api/v0.1/';
const FEED_ERRORS = ['400', '401', '404', '429', '500', '503'];
const WRITE_ERRORS = ['400', '401', '403', '404', '409', '413', '415', '429', '500', '503'];

const answer = (service: TestService, path: string) => send(`${service.url}${path}`, 'GET', {});

describe('/openapi.json and /docs; none needs credentials', () => {
  let service: TestService;
  let document: OpenApi;
  beforeAll(async () => {
    service = await TestService.start();
    document = (await answer(service, '/openapi.json')).json as OpenApi;
  });
  afterAll(() => service.stop());

  const operation = (path: string, method = 'get') => document.paths[path]?.[method];
  const required = (path: string, place: string, method = 'get') =>
    (operation(path, method)?.parameters ?? [])
      .filter((parameter) => parameter.in === place && parameter.required === true)
      .map((parameter) => parameter.name);
  const parametersOf = (path: string) => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);

  it('is an OpenAPI 3 document, as application/json', async () => {
    const { headers, status } = await answer(service, '/openapi.json');
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    expect(document.openapi).toMatch(/^3\./);
  });

  describe.each(FEED_PATHS.map((path) => READ + path))('each path stands by itself: GET %s', (path) => {
    it('with its parameters', () => {
      expect(required(path, 'path').sort()).toEqual(parametersOf(path).sort());
      expect(required(path, 'query')).toEqual(['to']);
      const query = operation(path)!.parameters.filter((parameter) => parameter.in === 'query');
      expect(query.map((parameter) => parameter.name).sort()).toEqual([
        'from',
        'lastoffsetid',
        'limit',
        'to',
      ]);
      const limit = query.find((parameter) => parameter.name === 'limit');
      expect(limit?.schema).toEqual({ type: 'integer', minimum: 1, maximum: 10_000, default: 1000 });
    });

    it('with its answers', () => {
      const { responses } = operation(path)!;
      const own = path.endsWith('harddeletes') ? ['410'] : [];
      expect(Object.keys(responses).sort()).toEqual(['200', ...FEED_ERRORS, ...own].sort());
      const page = path.endsWith('updates') ? 'UpdatesPage' : 'DeletesPage';
      expect(responses['200']?.content).toEqual({
        'application/json': { schema: { $ref: `#/components/schemas/${page}` } },
      });
      expect(Object.keys(responses['200']?.headers ?? {}).sort()).toEqual(['Link', 'Tidemark-To']);
    });
  });

  describe.each(MAX_PATHS.map((path) => READ + path))('each path stands by itself: GET %s', (path) => {
    it('max takes no query parameters', () => {
      expect(required(path, 'path').sort()).toEqual(parametersOf(path).sort());
      expect(operation(path)?.parameters.filter((parameter) => parameter.in === 'query')).toEqual([]);
    });

    it('with its answers, 304 among them', () => {
      expect(Object.keys(operation(path)?.responses ?? {}).sort()).toEqual(['200', '304', ...FEED_ERRORS]);
    });
  });

  describe.each([
    ['post', 'member', ['201', ...WRITE_ERRORS]],
    ['patch', 'member/{memberid}', ['200', ...WRITE_ERRORS, '412']],
    ['patch', 'member/{memberid}/address', ['200', ...WRITE_ERRORS, '412']],
    ['get', 'member/{memberid}', ['200', '304', ...FEED_ERRORS]],
  ])('each path stands by itself: %s /%s', (method, path, answers) => {
    it('with its parameters, body and answers', () => {
      expect(required(WRITE + path, 'path', method).sort()).toEqual(parametersOf(WRITE + path).sort());
      expect(Object.keys(operation(WRITE + path, method)?.responses ?? {}).sort()).toEqual(answers.sort());
      const body = operation(WRITE + path, method)?.requestBody?.content['application/json'];
      expect(body !== undefined).toBe(method !== 'get');
    });
  });

  it.each(['CreateMember', 'PatchMember', 'PatchAddress'])('%s takes no other properties', (name) => {
    expect(document.components.schemas[name]).toMatchObject({ additionalProperties: false });
  });

  const operations = () => Object.values(document.paths).flatMap((methods) => Object.values(methods));

  it('every operation has a summary and a name of its own: what it does to what, with no name of a class', () => {
    const names = operations().map((one) => one.operationId);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names)
      expect(name).toMatch(/^(get|list|create|put|patch|delete|preview|plan|apply|rotate)([A-Z][a-z]+)+$/);
    expect(names.filter((name) => /controller|shape/i.test(name))).toEqual([]);
    for (const one of operations()) expect(one.summary).toMatch(/./);
  });

  it('every operation says what a success is', () => {
    const without = operations().filter(
      ({ responses }) => !Object.keys(responses).some((one) => /^2/.test(one)),
    );
    expect(without.map(({ operationId }) => operationId)).toEqual([]);
  });

  it.each([
    [`get ${READ}member/max`, 'getMemberMax'],
    [`get ${READ}product/{service}/updates`, 'listProductUpdates'],
    [`get ${READ}member/{service}/softdeletes`, 'listMemberSoftDeletes'],
    [`get ${READ}product/harddeletes`, 'listProductHardDeletes'],
    [`get ${READ}member/{service}/changes`, 'listMemberChanges'],
    [`get ${READ}productbychannel/{channel}/updates`, 'listChannelUpdates'],
    [`get ${READ}productbychannel/{channel}/softdeletes`, 'listChannelSoftDeletes'],
    [`get ${READ}productbychannel/{channel}/changes`, 'listChannelChanges'],
    [`post ${WRITE}member`, 'createMember'],
    [`patch ${WRITE}member/{memberid}`, 'patchMember'],
    [`patch ${WRITE}member/{memberid}/address`, 'patchMemberAddress'],
    [`get ${WRITE}member/{memberid}`, 'getMember'],
    ['put /admin/v1/applications/{org}/{app}/services/{kind}/{name}', 'putService'],
    ['get /health/ready', 'getReadiness'],
    ['get /metrics', 'getMetrics'],
  ])('%s is %s', (route, name) => {
    const [method = '', path = ''] = route.split(' ');
    expect(operation(path, method)?.operationId).toBe(name);
  });

  it('every tag is explained, and used', () => {
    const used = new Set(operations().flatMap((one) => one.tags));
    expect(document.tags.map(({ name }) => name).sort()).toEqual([...used].sort());
    for (const { description } of document.tags) expect(description).toMatch(/\.$/);
  });

  it('every parameter of a path is described, and no parameter stands twice', () => {
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const { parameters } of Object.values(methods)) {
        const described = parameters.filter((one) => one.in === 'path').map(({ name }) => name);
        expect([path, described.sort()]).toEqual([path, parametersOf(path).sort()]);
        const all = parameters.map((one) => `${one.in} ${one.name.toLowerCase()}`);
        expect([path, new Set(all).size]).toEqual([path, all.length]);
      }
    }
  });

  it('headers may be left out', () => {
    const headers = operations().flatMap(({ parameters }) => parameters.filter((one) => one.in === 'header'));
    expect(headers.length).toBeGreaterThan(0);
    for (const one of headers) expect([one.name, one.required]).toEqual([one.name, false]);
  });

  it('names in paths: how they are formed, and what `default` is', () => {
    const { parameters } = operation(`${READ}product/{service}/changes`)!;
    for (const name of ['org', 'app', 'service'])
      expect(parameters.find((one) => one.name === name)?.schema).toMatchObject({
        pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
        maxLength: 64,
      });
    expect(parameters.find(({ name }) => name === 'service')?.description).toContain('`default`');
  });

  it('an item of changes is told by its op', () => {
    const { properties } = document.components.schemas['ChangesPage'] as { properties: object };
    const item = { $ref: '#/components/schemas/ChangeItem' };
    expect(properties).toMatchObject({ result: { type: 'array', items: item } });
    const mapping = {
      upsert: '#/components/schemas/ChangeUpsert',
      delete: '#/components/schemas/ChangeDelete',
    };
    expect(document.components.schemas['ChangeItem']).toMatchObject({
      oneOf: Object.values(mapping).map(($ref) => ({ $ref })),
      discriminator: { propertyName: 'op', mapping },
    });
  });

  it('the server is the one that the document comes from', () => {
    expect(document.servers).toEqual([{ url: '/', description: expect.stringMatching(/./) }]);
  });

  it('`npm run -s openapi` writes the same, without a database', async () => {
    const env = { ...process.env, MONGODB_URI: undefined };
    const { stdout } = await promisify(execFile)(process.execPath, ['scripts/openapi.mjs'], {
      env,
      maxBuffer: 16 * 1024 * 1024,
    });
    expect(JSON.parse(stdout)).toEqual(document);
  });

  it('every endpoint of applications and of administration asks for Basic, and none else', () => {
    expect(document.components.securitySchemes).toEqual({ basic: { type: 'http', scheme: 'basic' } });
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const one of Object.values(methods))
        expect([path, one.security]).toEqual([
          path,
          /^\/(\{org\}|admin\/v1)/.test(path) ? [{ basic: [] }] : undefined,
        ]);
    }
  });

  it('every error is application/problem+json of one shape', () => {
    const errors = Object.entries(document.paths)
      .filter(([path]) => /^\/(\{org\}|admin\/v1)/.test(path))
      .flatMap(([, methods]) => Object.values(methods))
      .flatMap((one) => Object.entries(one.responses))
      .filter(([status]) => Number(status) >= 400);
    for (const [, response] of errors) {
      expect(response.content).toEqual({
        'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
      });
    }
  });

  it('every reference leads somewhere', () => {
    const references = JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g);
    const names = [...references].map(([, name]) => name ?? '');
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) expect(document.components.schemas).toHaveProperty(name);
  });

  it('what a feed answers has the shape that the document tells', async () => {
    const app = await service.application();
    await app.product();
    await app.remove('product', await app.product());
    const shapes = document.components.schemas as Record<string, { properties: object; required?: string[] }>;
    const names = (item: object | undefined) => Object.keys(item ?? {}).sort();
    const [update] = (await app.feed('product').page()).items;
    expect(names(shapes['UpdateItem']?.properties)).toEqual(names(update));
    expect(shapes['UpdateItem']?.required?.sort()).toEqual(
      names(update).filter((name) => name !== 'channels'),
    );
    const [gone] = (await app.hardDeletes('product').page()).items;
    expect(names(shapes['DeleteItem']?.properties)).toEqual(names(gone));
  });

  it('GET /docs serves a page, with all that it needs', async () => {
    const page = await answer(service, '/docs');
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const parts = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, part]) => part ?? '');
    expect(parts.some((part) => part.includes('swagger-ui-bundle.js'))).toBe(true);
    for (const part of parts) {
      const { pathname } = new URL(part, `${service.url}/docs`);
      expect([part, (await answer(service, pathname)).status]).toEqual([part, 200]);
    }
  });

  it('GET /metrics (Prometheus)', async () => {
    const metrics = await answer(service, '/metrics');
    expect(metrics.status).toBe(200);
    expect(metrics.headers.get('content-type')).toContain('text/plain');
    expect(metrics.text).toContain('# TYPE tidemark_http_request_seconds histogram');
  });
});

describe('tells what this instance takes', () => {
  it.each([
    ['5', { maximum: 5, default: 5 }],
    ['20000', { maximum: 20_000, default: 1000 }],
  ])('LIMIT_MAX=%s', async (limitMax, told) => {
    const service = await TestService.start({ LIMIT_MAX: limitMax });
    const { paths } = (await answer(service, '/openapi.json')).json as OpenApi;
    await service.stop();
    const limits = FEED_PATHS.map((path) =>
      paths[READ + path]?.['get']?.parameters.find(({ name }) => name === 'limit'),
    );
    for (const limit of limits) expect(limit?.schema).toEqual({ type: 'integer', minimum: 1, ...told });
  });
});

describe('METRICS/DOCS switch theirs off', () => {
  it.each([
    ['DOCS', ['/docs', '/docs/swagger-ui-bundle.js', '/openapi.json'], ['/metrics', '/health/live']],
    ['METRICS', ['/metrics'], ['/docs', '/openapi.json', '/health/live']],
  ])('%s=off', async (name, off, on) => {
    const service = await TestService.start({ [name]: 'off' });
    for (const path of off) expectProblem(await answer(service, path), 404, 'not-found');
    for (const path of on) expect((await answer(service, path)).status).toBe(200);
    await service.stop();
  });
});
