import { EventEmitter } from 'node:events';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { mongo } from 'mongoose';
import { Spans } from '../../../../../src/platform/observability/traces/spans.js';

const exporter = new InMemorySpanExporter();
const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
const client = new EventEmitter();
const spans = new Spans(provider.getTracer('test'));
spans.follow(client as unknown as mongo.MongoClient);
beforeEach(() => exporter.reset());

let requestId = 0;
/** The events that the driver emits for a command. */
function command(commandName: string, sent: object, failure?: Error): void {
  requestId += 1;
  const about = { requestId, commandName, databaseName: 'tidemark', address: 'db1:27017' };
  client.emit('commandStarted', { ...about, command: sent });
  if (failure === undefined) client.emit('commandSucceeded', { ...about, reply: { ok: 1 } });
  else client.emit('commandFailed', { ...about, failure });
}

async function finished() {
  await provider.forceFlush();
  return exporter.getFinishedSpans();
}

const named = async (name: string) => (await finished()).filter((span) => span.name === name);

it('an error is exported by its name or code, never by its message', async () => {
  const refused = new mongo.MongoServerError({
    message: 'dup key: secret',
    code: 11000,
    codeName: 'DuplicateKey',
  });
  const failing = spans.work(
    'work',
    {},
    () => {
      command('insert', { insert: 'members', documents: ['secret'] }, refused);
      command('ping', { ping: 1 }, Object.assign(new Error('secret'), { code: 'ECONNRESET' }));
      return Promise.reject(new TypeError('secret'));
    },
    () => ({}),
  );
  await expect(failing).rejects.toThrow('secret');
  const kinds = (await finished()).map(({ name, attributes }) => [name, attributes['error.type']]);
  expect(kinds).toEqual([
    ['insert members', 'DuplicateKey'],
    ['ping', 'ECONNRESET'],
    ['work', 'TypeError'],
  ]);
  const told = (await finished()).map(({ status, events, attributes }) => ({ status, events, attributes }));
  expect(JSON.stringify(told)).not.toContain('secret');
});

it('a further batch of a cursor names its collection, and not the cursor', async () => {
  const work = () => {
    command('getMore', { getMore: 5, collection: 'products' });
    return Promise.resolve();
  };
  await spans.work('work', {}, work, () => ({}));
  expect(await named('getMore products')).toHaveLength(1);
});

it('commands outside of any request or work, and of one that has ended, are no spans', async () => {
  let later = Promise.resolve();
  let end = () => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  const work = () => {
    later = ended.then(() => command('find', { find: 'members' }));
    return Promise.resolve();
  };
  await spans.work('work', {}, work, () => ({}));
  command('find', { find: 'members' });
  end();
  await later;
  expect((await finished()).map(({ name }) => name)).toEqual(['work']);
});

it('the first thousand commands are spans, and the others are counted', async () => {
  const work = () => {
    for (let count = 0; count < 1003; count += 1) command('find', { find: 'members' });
    return Promise.resolve();
  };
  await spans.work('work', {}, work, () => ({}));
  expect(await named('find members')).toHaveLength(1000);
  expect((await named('work'))[0]?.attributes['tidemark.commands.omitted']).toBe(3);
});

it('a request is an error if the service failed, and not if the client did', async () => {
  for (const [status, error] of [
    [404, 'unknown-service'],
    [503, 'database-away'],
  ] as const)
    spans
      .request({ method: 'GET', scheme: 'http', traceparent: undefined })
      .end({ route: `/${status}`, status, error });
  spans
    .request({ method: undefined, scheme: 'http', traceparent: undefined })
    .end({ route: undefined, status: undefined, error: 'aborted' });
  const told = (await finished()).map(({ name, status, attributes }) => [
    name,
    status.code,
    attributes['error.type'],
  ]);
  expect(told).toEqual([
    ['GET /404', 0, 'unknown-service'],
    ['GET /503', 2, 'database-away'],
    ['HTTP', 2, 'aborted'],
  ]);
});
