import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hashPassword } from '../../src/auth/index.js';
import { eventually } from '../support/eventually.js';
import { dropDatabase, freshDatabase, type TestDatabase } from '../support/database.js';
import { freshDataDir, removeDataDir, ServiceProcess } from '../support/process.js';
import { attributesOf, type ExportedSpan, Receiver } from '../support/trace-receiver.js';

jest.setTimeout(300_000);

const SERVER = 2;
const CLIENT = 3;
const FAILED = 2;
const tenant = { organizationid: 'acme', appid: 'shop' };
/** Values that no trace may contain. */
const secret = {
  password: 'canary-password',
  user: 'canary-user',
  key: 'canary-key',
  email: 'canary-email@example.com',
  id: 'canary-id',
  query: 'canary-query',
  filter: 'canary-filter',
  path: 'canary-path',
};

let database: TestDatabase;
let dataDir: string;
let receiver: Receiver;
let service: ServiceProcess;

beforeAll(async () => {
  database = await freshDatabase();
  receiver = await Receiver.listen();
  dataDir = await freshDataDir();
  const { db } = database;
  const passwordhash = await hashPassword(secret.password);
  const credential = { username: secret.user, passwordhash, level: 'write', scopes: [tenant] };
  const filter = { name: secret.filter };
  await db.collection('applications').insertOne({ ...tenant });
  await db.collection('credentials').insertOne(credential);
  const services = [
    { name: 'some', filter },
    { name: 'wrong', filter: { $where: secret.filter } },
  ];
  await db
    .collection('services')
    .insertMany(services.map((service) => ({ ...tenant, kind: 'product', ...service })));
  await writeFile(join(dataDir, 'headers'), `api-key=${secret.key}\n`);
  service = await ServiceProcess.start({
    dataDir,
    environment: {
      MONGODB_URI: database.uri,
      LOG_LEVEL: 'info',
      LOG_FORMAT: 'json',
      OTEL_EXPORTER_OTLP_ENDPOINT: `${receiver.url}/`,
      OTEL_EXPORTER_OTLP_HEADERS_FILE: join(dataDir, 'headers'),
      OTEL_RESOURCE_ATTRIBUTES: 'service.name=unused,deployment.environment.name=test',
      OTEL_SERVICE_NAME: 'feeds',
    },
  });
});
afterAll(async () => {
  await service.stop();
  await receiver.close();
  await dropDatabase(database);
  await removeDataDir(dataDir);
});

/** A request of a client that traces, unless `flags` is another than 01: the ids of its trace and of its span. */
async function ask(path: string, { flags = '01', ...options }: RequestInit & { flags?: string } = {}) {
  const traceId = randomBytes(16).toString('hex');
  const parentSpanId = randomBytes(8).toString('hex');
  const headers = {
    ...{
      authorization: `Basic ${btoa(`${secret.user}:${secret.password}`)}`,
      'content-type': 'application/json',
    },
    ...{ traceparent: `00-${traceId}-${parentSpanId}-${flags}`, 'x-request-id': traceId },
  };
  const answer = await fetch(`${service.url}/acme/shop/api/${path}`, { ...options, headers });
  const text = await answer.text();
  await service.prints(`"id":"${traceId}"`);
  const lines = service.logged.map((line) => JSON.parse(line) as Record<string, unknown>);
  const line = lines.find(({ req }) => (req as { id?: string } | undefined)?.id === traceId);
  return {
    status: answer.status,
    body: JSON.parse(text) as Record<string, unknown>,
    traceId,
    parentSpanId,
    line,
  };
}

const serverSpan = ({ traceId }: { traceId: string }) =>
  receiver.span((span) => span.traceId === traceId && span.kind === SERVER);

it('what a stream of events causes after its beginning is not part of its trace, because all streams share it', async () => {
  const traceId = randomBytes(16).toString('hex');
  const headers = {
    authorization: `Basic ${btoa(`${secret.user}:${secret.password}`)}`,
    traceparent: `00-${traceId}-${randomBytes(8).toString('hex')}-01`,
  };
  const leave = new AbortController();
  const { signal } = leave;
  const answer = await fetch(`${service.url}/acme/shop/api/v1/product/events`, { headers, signal });
  const text = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  let heard = '';
  const hears = async (events: number) => {
    while (heard.split('event: max').length <= events) heard += (await text.read()).value ?? '';
  };
  await hears(1);
  const begun = Date.now();
  await database.db.collection('products').insertOne({ ...tenant, type: 'product', id: 'p1', channels: [] });
  await hears(2);
  leave.abort();
  const span = await serverSpan({ traceId });
  const later = receiver
    .childrenOf(span)
    .filter(({ startTimeUnixNano }) => Number(startTimeUnixNano) / 1e6 > begun);
  expect(later.map(({ name }) => name)).toEqual([]);
});

it('a request is a span of the client’s trace, and its commands are children', async () => {
  const body = JSON.stringify({ accountnumber: secret.id, email: secret.email });
  const asked = await ask('v0.1/member', { method: 'POST', body });
  expect(asked.status).toBe(201);
  const span = await serverSpan(asked);
  expect(span).toMatchObject({ name: 'POST /:org/:app/api/v0.1/member', parentSpanId: asked.parentSpanId });
  expect(attributesOf(span)).toEqual({
    'http.request.method': 'POST',
    'http.route': '/:org/:app/api/v0.1/member',
    'http.response.status_code': 201,
    'url.scheme': 'http',
    'tidemark.organization.name': 'acme',
    'tidemark.application.name': 'shop',
  });
  const commands = receiver.childrenOf(span);
  const write = commands.find((command) => attributesOf(command)['db.collection.name'] === 'members');
  expect(write?.kind).toBe(CLIENT);
  expect(write?.name).toMatch(/^(insert|update|findAndModify) members$/);
  expect(attributesOf(write!)).toEqual({
    'db.system.name': 'mongodb',
    'db.operation.name': write!.name.split(' ')[0],
    'db.collection.name': 'members',
    'db.namespace': database.db.databaseName,
    'server.address': expect.stringMatching(/:\d+$/),
  });
  expect(asked.line).toMatchObject({ trace_id: asked.traceId });
});

it('the id of the trace is in the problem and in its line of the log', async () => {
  await ask(`v1/product/some/updates?to=2999-01-01`);
  const asked = await ask(`v1/product/${secret.path}/updates?to=2999-01-01&nonsense=${secret.query}`);
  expect(asked).toMatchObject({
    status: 404,
    body: { traceid: asked.traceId },
    line: { trace_id: asked.traceId },
  });
  const span = await serverSpan(asked);
  expect(span.name).toBe('GET /:org/:app/api/v1/product/:service/updates');
  expect(attributesOf(span)).toMatchObject({ 'error.type': 'unknown-service' });
  expect(span.status.code).not.toBe(FAILED);
});

it('a failure of the service is an error of the span, and its line of the log has the id of the trace', async () => {
  const asked = await ask('v1/product/wrong/updates?to=2999-01-01');
  expect(asked.status).toBe(500);
  const span = await serverSpan(asked);
  expect(span.status.code).toBe(FAILED);
  expect(attributesOf(span)).toMatchObject({ 'error.type': 'service-misconfigured' });
  const lines = service.logged.map((line) => JSON.parse(line) as Record<string, unknown>);
  const failure = lines.find(({ requestId }) => requestId === asked.traceId);
  expect(failure).toMatchObject({ context: 'Problem', trace_id: asked.traceId });
});

it('a request whose client does not record its trace is not traced', async () => {
  const { body, line, traceId } = await ask('v1/product/none/updates?to=2999-01-01', { flags: '00' });
  expect([body['traceid'], line?.['trace_id']]).toEqual([undefined, undefined]);
  await serverSpan(await ask('v1/product/max'));
  expect(receiver.spans.filter((span) => span.traceId === traceId)).toEqual([]);
});

it('a batch of the watcher and a pass are traces of their own, with their commands', async () => {
  const pass = await receiver.span(({ name }) => name === 'watcher pass');
  expect(pass.parentSpanId ?? '').toBe('');
  expect(attributesOf(pass)).toMatchObject({
    'tidemark.pass.repair': false,
    'tidemark.pass.of_one_application': false,
  });
  const product = { ...tenant, type: 'product', id: secret.id, name: secret.filter, channels: [] };
  await database.db.collection('products').insertOne(product);
  const isWanted = (span: ExportedSpan) =>
    span.name === 'watcher batch' &&
    Number(attributesOf(span)['tidemark.batch.applications']) === 1 &&
    receiver.childrenOf(span).some(({ name }) => name.endsWith(' tidemark.ledger'));
  const batch = await receiver.span(isWanted);
  expect(batch.parentSpanId ?? '').toBe('');
  expect(Number(attributesOf(batch)['tidemark.batch.events'])).toBeGreaterThan(0);
});

it('a refusal by the receiver is logged once, until it takes traces again', async () => {
  const told = (text: string) => service.logged.filter((line) => line.includes(text)).length;
  receiver.does = 'refuse';
  await eventually(async () => {
    await ask('v1/product/max');
    return receiver.refusals >= 2;
  });
  await service.prints('Traces are lost');
  receiver.does = 'take';
  await serverSpan(await ask('v1/product/max'));
  await service.prints('accepts traces again');
  expect([told('Traces are lost'), told('accepts traces again')]).toEqual([1, 1]);
});

it('a receiver that hangs holds neither a request nor the stop, which sends what has ended', async () => {
  receiver.does = 'hang';
  await eventually(async () => {
    expect((await ask('v1/product/some/updates?to=2999-01-01')).status).toBe(200);
    return receiver.held > 0;
  });
  receiver.does = 'take';
  const asked = await ask('v1/product/max');
  expect(asked.status).toBe(200);
  expect(await service.stop()).toBe(0);
  expect(receiver.spans.map(({ traceId }) => traceId)).toContain(asked.traceId);
});

it('traces contain no value of a record, a filter, a query or a login', () => {
  expect(receiver.bodies.length).toBeGreaterThan(0);
  for (const value of Object.values(secret))
    expect(receiver.bodies.filter((body) => body.includes(value))).toEqual([]);
  expect(receiver.bodies.filter((body) => body.includes('"feeds"') && !body.includes('unused'))).toEqual(
    receiver.bodies,
  );
  for (const headers of receiver.headers)
    expect(headers).toMatchObject({ 'api-key': secret.key, path: '/v1/traces' });
});
