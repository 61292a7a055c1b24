import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { send, TestService } from '../support/index.js';
import { type OpenApi, READ, WRITE } from './openapi-document.js';

let service: TestService;
let document: OpenApi;

beforeAll(async () => {
  service = await TestService.shared();
  document = (await send(`${service.url}/openapi.json`, 'GET', {})).json as OpenApi;
});

const operation = (path: string, method = 'get') => document.paths[path]?.[method];
const parametersOf = (path: string) => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
const operations = () => Object.values(document.paths).flatMap((methods) => Object.values(methods));

it('every operation has a summary and a name of its own: what it does to what, with no name of a class', () => {
  const names = operations().map((one) => one.operationId);
  expect(new Set(names).size).toBe(names.length);
  for (const name of names)
    expect(name).toMatch(
      /^(get|list|create|put|patch|delete|preview|plan|apply|rotate|listen)([A-Z][a-z]+)+$/,
    );
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
  [`get ${READ}member/{service}/digest`, 'getMemberDigest'],
  [`get ${READ}product/events`, 'listenToProductEvents'],
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

it('the server is the one that the document comes from, also behind a prefix', () => {
  expect(document.servers).toEqual([{ url: '.', description: expect.stringMatching(/./) }]);
});

it('`npm run -s openapi` writes the same, without a database', async () => {
  const env = { ...process.env, MONGODB_URI: undefined };
  const { stdout } = await promisify(execFile)(process.execPath, ['scripts/openapi.mjs'], {
    env,
    maxBuffer: 16 * 1024 * 1024,
  });
  expect(JSON.parse(stdout)).toEqual(document);
});
