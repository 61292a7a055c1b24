import { expectProblem, FEED_PATHS, MAX_PATHS, send, TestService } from '../support/index.js';
import { type OpenApi, READ, WRITE } from './openapi-document.js';

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

  it('the 503 of a request that may write does not say that nothing was lost', () => {
    for (const methods of Object.values(document.paths))
      for (const [method, { operationId, responses }] of Object.entries(methods)) {
        const [content] = Object.values(responses['503']?.content ?? {});
        if (content === undefined) continue;
        const { detail } = content.example as { detail: string };
        const expected = method === 'get' ? 'Nothing was lost' : 'the change may have been made';
        expect({ operationId, detail }).toEqual({
          operationId,
          detail: expect.stringContaining(expected) as string,
        });
      }
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
      expect(Object.keys(responses).sort()).toEqual(['200', ...FEED_ERRORS, '410'].sort());
      const page = path.endsWith('updates') ? 'UpdatesPage' : 'DeletesPage';
      expect(responses['200']?.content).toEqual({
        'application/json': {
          schema: { $ref: `#/components/schemas/${page}` },
          example: expect.any(Object) as object,
        },
      });
      expect(Object.keys(responses['200']?.headers ?? {}).sort()).toEqual(['Link', 'Tidemark-To']);
    });
  });

  it.each(['member/{service}', 'product/{service}', 'productbychannel/{channel}'])(
    'changes of %s answers a page, or lines',
    (of) => {
      expect(operation(`${READ}${of}/changes`)?.responses['200']?.content).toEqual({
        'application/json': {
          schema: { $ref: '#/components/schemas/ChangesPage' },
          example: expect.any(Object) as object,
        },
        'application/x-ndjson': { schema: { type: 'string', description: expect.any(String) as string } },
      });
    },
  );

  it('429 of a digest tells of the one that is under way', () => {
    const { responses } = operation(`${READ}product/{service}/digest`)!;
    expect(responses['429']?.description).toContain('`digest-busy`');
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

  it('every path with a parameter has the 400 of a path that cannot be decoded', () => {
    for (const [path, methods] of Object.entries(document.paths))
      for (const { operationId, responses } of Object.values(methods))
        expect([operationId, Object.hasOwn(responses, '400') || !path.includes('{')]).toEqual([
          operationId,
          true,
        ]);
  });

  it('the 409 of the administration does not name conflicts of members only', () => {
    const { description } = operation('/admin/v1/applications', 'post')!.responses['409']!;
    for (const slug of ['name-taken', 'in-use', 'email-conflict']) expect(description).toContain(slug);
  });

  it('every error is application/problem+json of one shape', () => {
    const errors = Object.entries(document.paths)
      .filter(([path]) => /^\/(\{org\}|admin\/v1)/.test(path))
      .flatMap(([, methods]) => Object.values(methods))
      .flatMap((one) => Object.entries(one.responses))
      .filter(([status]) => Number(status) >= 400);
    for (const [, response] of errors) {
      expect(response.content).toEqual({
        'application/problem+json': {
          schema: { $ref: '#/components/schemas/Problem' },
          example: expect.any(Object) as object,
        },
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
      names(update).filter((name) => !['createdBy', 'channels'].includes(name)),
    );
    const [gone] = (await app.hardDeletes('product').page()).items;
    expect(names(shapes['DeleteItem']?.properties)).toEqual(names(gone));
  });

  it('GET /docs serves a page, with all that it needs', async () => {
    const page = await answer(service, '/docs');
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const { text: look } = await answer(service, '/docs/look.css');
    const imported = [...look.matchAll(/^@import '([^']+)'/gm)].map(([, name]) => `docs/${name}`);
    const named = [...page.text.matchAll(/(?:src|href)="(\w[^"]+)"/g)].map(([, part]) => part ?? '');
    const parts = [...named, ...imported];
    expect(imported).toContain('docs/swagger-ui.css');
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
