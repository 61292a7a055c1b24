/** The examples of the OpenAPI document: each request is sent, in their order, and its answer compared with the example. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv, type ValidateFunction } from 'ajv';
import { ConsumerNotes } from '../../src/replication/feed/index.js';
import { eventually, PASSWORD, send, type TestApplication, TestService } from '../support/index.js';
import type { OpenApi, OpenApiOperation } from './openapi-document.js';

interface Example {
  operation: string;
  parameters?: Record<string, string>;
  body?: Record<string, unknown>;
  answer?: unknown;
}

interface Sent {
  status: number;
  /** The JSON of the answer, or its text. */
  answer: unknown;
}

const PAGE = join(__dirname, '..', '..', 'src', 'platform', 'http', 'page');
const examples = JSON.parse(readFileSync(join(PAGE, 'examples.json'), 'utf8')) as Example[];
const TOMORROW = new Date(Date.now() + 86_400_000).toISOString();

let service: TestService;
let app: TestApplication;
let document: OpenApi;
let operations: Map<string, OpenApiOperation & { path: string; method: string }>;
const sent = new Map<string, Sent>();

beforeAll(async () => {
  service = await TestService.start();
  document = (await send(`${service.url}/openapi.json`, 'GET', {})).json as OpenApi;
  operations = new Map(
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, operation]) => [operation.operationId, { ...operation, path, method }] as const,
      ),
    ),
  );
  app = await service.application({ organizationid: 'acme', appid: 'webshop' });
  await app.credential({
    username: 'operator',
    level: 'admin',
    scopes: [{ organizationid: '*', appid: '*' }],
  });
  await app.filter('member', 'customers', { 'data.elevel': { $gte: 2 } });
  for (const id of ['product-3001', 'product-3002'])
    await app.product({ id, channels: ['web'], data: { datasource: 'erp', title: 'Trail bike' } });
  await app.product({ id: 'product-4001', data: { datasource: 'pim' } });
  await app.remove('product', await app.product({ id: 'product-3003', channels: ['web'] }));
  await app.member({ data: { elevel: 1 } });
  await app.remove('member', await app.member());
  for (const example of examples) sent.set(example.operation, await ask(example));
});
afterAll(() => service?.stop());

/** What differs from run to run: ids and times. */
function inThisRun({ operation, parameters = {}, body }: Example): Example {
  const offset = (kind: string) => (sent.get(`get${kind}Max`)!.answer as { offset: string }).offset;
  const kind = /Member/.test(operation) ? 'Member' : 'Product';
  const own = { ...parameters };
  if ('to' in own) own['to'] = offset(kind);
  if ('memberid' in own) own['memberid'] = (sent.get('createMember')!.answer as { id: string }).id;
  if ('receipt' in own) own['receipt'] = (sent.get('createErasure')!.answer as { receipt: string }).receipt;
  const times = Object.keys(body ?? {}).filter((name) => ['expiresAt', 'keepOldUntil'].includes(name));
  const later = Object.fromEntries(times.map((name) => [name, TOMORROW]));
  return { operation, parameters: own, ...(body && { body: { ...body, ...later } }) };
}

async function ask(example: Example): Promise<Sent> {
  const { path, method } = operations.get(example.operation)!;
  const { parameters = {}, body } = inThisRun(example);
  const inPath = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(parameters[name]!));
  const rest = Object.entries(parameters).filter(([name]) => !path.includes(`{${name}}`));
  const url = `${service.url}${inPath}?${new URLSearchParams(rest)}`;
  const level = path.includes('/v0.1/') ? 'write' : 'read';
  const user = path.startsWith('/admin/') ? 'operator' : app.user(level);
  if (path.endsWith('/events')) return firstEvent(url, user);
  if (path.endsWith('/status')) await eventually(() => areTotalsStored());
  if (/\/(consumers|erasures)\b/.test(path)) await service.app.get(ConsumerNotes, { strict: false }).flush();
  if (path.endsWith('/schema'))
    await eventually(async () => isSampled(example, await send(url, 'GET', { user })));
  const { status, json, text } = await send(url, method.toUpperCase(), { user, body });
  if (path.startsWith('/admin/')) await service.heard();
  return { status, answer: json ?? text };
}

/** Whether the last sample is of the records as they are now: the leader takes samples beside the stream. */
function isSampled({ answer }: Example, { json }: { json: unknown }): boolean {
  const countIn = (schema: unknown) =>
    (schema as { 'x-tidemark-records'?: { count: number } })['x-tidemark-records']?.count;
  return countIn(json) === countIn(answer) && differences(answer, json).length === 0;
}

/** The leader stores its totals, and the progress of its audit, beside the stream. */
async function areTotalsStored(): Promise<boolean> {
  const totals = await service.db.collection('tidemark.watchtotals').findOne();
  const names = Object.keys(totals ?? {});
  const isAudited = (await service.db.collection('tidemark.audits').findOne()) !== null;
  return isAudited && ['ignored', 'passes', 'tombstones'].every((name) => names.includes(name));
}

/** The stream does not end. */
async function firstEvent(url: string, user: string): Promise<Sent> {
  const abort = new AbortController();
  const headers = { authorization: `Basic ${btoa(`${user}:${PASSWORD}`)}` };
  const { status, body } = await fetch(url, { headers, signal: abort.signal });
  const { value } = await body!.getReader().read();
  abort.abort();
  return { status, answer: new TextDecoder().decode(value as Uint8Array) };
}

/** Where an example has other members or types than an answer. `null` is of any type. */
function differences(example: unknown, answer: unknown, at = ''): string[] {
  if (example === null || answer === null) return [];
  if (Array.isArray(example) && Array.isArray(answer)) {
    if ((example.length === 0) !== (answer.length === 0)) return [`${at}: one of them is empty`];
    return example.flatMap((item, index) => {
      const found = answer.map((one) => differences(item, one, `${at}/${index}`));
      return found.find(({ length }) => length === 0) ?? found[0]!;
    });
  }
  if (typeof example !== 'object' || typeof answer !== 'object')
    return typeof example === typeof answer ? [] : [`${at}: ${typeof answer}, not ${typeof example}`];
  const names = [example, answer].map((one) => Object.keys(one).sort());
  if (String(names[0]) !== String(names[1])) return [`${at}: ${String(names[1])}, not ${String(names[0])}`];
  return Object.entries(example).flatMap(([name, value]) =>
    differences(value, (answer as Record<string, unknown>)[name], `${at}/${name}`),
  );
}

const ajv = new Ajv({ strict: false, validateFormats: false });
const validators = new Map<string, ValidateFunction>();

/** What is wrong with a value, by a schema of the document. */
function faults(schema: object, value: unknown): unknown[] {
  const text = JSON.stringify(schema);
  const isValid = validators.get(text) ?? ajv.compile({ ...schema, components: document.components });
  validators.set(text, isValid);
  return isValid(value) ? [] : (isValid.errors ?? []);
}

const successOf = ({ responses }: OpenApiOperation) =>
  Object.entries(responses).find(([status]) => status.startsWith('2'))!;

it('every operation has one example', () => {
  expect(examples.map(({ operation }) => operation).sort()).toEqual([...operations.keys()].sort());
});

describe.each(examples)('$operation', (example) => {
  it('the request succeeds, and is the one that the document shows', () => {
    const operation = operations.get(example.operation)!;
    expect(String(sent.get(example.operation)!.status)).toBe(successOf(operation)[0]);
    const inDocument = (operation.parameters ?? [])
      .filter(({ example: one }) => one !== undefined)
      .map(({ name, example: one }) => [name, one]);
    expect(Object.fromEntries(inDocument)).toEqual(example.parameters ?? {});
    const [content] = Object.values(operation.requestBody?.content ?? {});
    expect(content?.example).toEqual(example.body);
    if (content !== undefined) expect(faults(content.schema, example.body)).toEqual([]);
  });

  it('the answer has the shape of a real one, and both satisfy the schema', () => {
    const [, { content }] = successOf(operations.get(example.operation)!);
    const [shown] = Object.values(content ?? {});
    const { answer } = sent.get(example.operation)!;
    expect(shown?.example).toEqual(example.answer);
    if (shown === undefined) return expect(answer).toBe('');
    expect(faults(shown.schema, example.answer)).toEqual([]);
    expect(faults(shown.schema, answer)).toEqual([]);
    if (typeof answer !== 'string') return expect(differences(example.answer, answer)).toEqual([]);
    const lines = (text: string) =>
      text.split('\n').map((line) => line.replace(/\d[\d.:TZ-]*|(?<==)"[^"]*"/g, '0'));
    expect(lines(answer)).toEqual(expect.arrayContaining(lines(example.answer as string)));
  });
});

it('an error has the example of its status, which satisfies the schema', () => {
  for (const { responses } of operations.values()) {
    for (const [status, { content }] of Object.entries(responses)) {
      const problem = content?.['application/problem+json'];
      if (problem === undefined) continue;
      expect(problem.example).toMatchObject({ status: Number(status) });
      expect(faults(problem.schema, problem.example)).toEqual([]);
    }
  }
});

it('a body that is no JSON is answered as the document shows it', async () => {
  const { path, responses } = operations.get('createMember')!;
  const url = `${service.url}${path.replace('{org}', 'acme').replace('{app}', 'webshop')}`;
  const headers = { 'content-type': 'application/json' };
  const { json } = await send(url, 'POST', { user: app.user('write'), raw: '{"email": ann}', headers });
  const example = responses['400']!.content!['application/problem+json']!.example as object;
  expect(json).toEqual({ ...example, requestId: expect.any(String) as string });
});

describe('a difference is found', () => {
  it.each([
    ['a missing member', { a: 1, b: 2 }, { a: 1 }, [': a, not a,b']],
    ['another type', { a: [{ b: 1 }] }, { a: [{ b: '1' }] }, ['/a/0/b: string, not number']],
    ['an empty list', { a: [] }, { a: [1] }, ['/a: one of them is empty']],
  ])('%s', (_, example, answer, found) => expect(differences(example, answer)).toEqual(found));
});
