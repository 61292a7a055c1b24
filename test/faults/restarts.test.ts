import { eventually } from '../support/index.js';
import { Poller } from './cuts/poller.js';
import { Random, someContent } from './plan/index.js';
import { FaultOperator, RecordSource, ReplicaSet, ServiceNode } from './world/index.js';
import { newRecord } from './workload/index.js';

const { FAULTS_RESTARTS = '2' } = process.env;
const POLLERS = 4;
/** The limit is for a machine that does nothing else: `test:long` asserts it. */
const LIVE_MS = process.env['TIDEMARK_TEST_LIMITS'] === 'real' ? 30_000 : 120_000;
const DATABASE = 'restarts';

let set: ReplicaSet;
let source: RecordSource;
let service: ServiceNode;
const stop = new AbortController();
let polling: Promise<void>[] = [];

beforeAll(async () => {
  set = await ReplicaSet.start({ nodes: 3, shortOplog: false, isLocked: true });
  source = await RecordSource.connect(set.uri(DATABASE));
  service = new ServiceNode(DATABASE, set.uri(DATABASE, await set.serviceUser(source)));
  await new FaultOperator(source).furnish();
  await service.start();
  await service.ready();
  const pollers = Array.from({ length: POLLERS }, () => new Poller(service.url ?? '', source.tenant));
  polling = pollers.map((poller) => poller.poll(stop.signal));
}, 240_000);

afterAll(async () => {
  stop.abort();
  await Promise.all(polling);
  await service.kill();
  await source.client.close();
  await set.remove();
});

async function restart(): Promise<void> {
  await Promise.all(set.members.map((member) => member.end('SIGTERM')));
  set.members.forEach((member) => member.start());
  await eventually(async () => (await set.primary()) !== undefined, 120_000);
}

/** Writes a record as soon as the set takes it. */
async function write(id: string): Promise<void> {
  const content = someContent(new Random(0));
  const record = newRecord(source.tenant, { kind: 'product', id, stamp: 'right', content });
  await eventually(async () => {
    const existing = await source
      .records('product')
      .findOne({ _id: record._id })
      .catch(() => undefined);
    if (existing !== undefined && existing !== null) return true;
    return source
      .records('product')
      .insertOne(record)
      .then(Boolean, () => false);
  }, LIVE_MS);
}

it(
  'a set with authentication, all of whose members are started again: feeds are back soon after the primary, each time',
  async () => {
    for (let n = 1; n <= Number(FAULTS_RESTARTS); n += 1) {
      await restart();
      await write(`after-${n}`);
      const poller = new Poller(service.url ?? '', source.tenant);
      let last = '';
      const isBack = async () => {
        await poller.once().catch((error: unknown) => (last = String(error)));
        return poller.held.has(`after-${n}`);
      };
      await eventually(isBack, LIVE_MS).catch(() => {
        throw new Error(
          `Not back ${LIVE_MS} ms after restart ${n}: ${last}\n${service.lines.slice(-5).join('\n')}`,
        );
      });
    }
    expect(service.lines.filter((line) => line.includes('TypeError'))).toEqual([]);
  },
  10 * 60_000,
);
