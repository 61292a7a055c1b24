import { setTimeout as wait } from 'node:timers/promises';
import { eventually } from '../../support/index.js';
import { Repeatedly } from '../load/index.js';
import { Random, someContent } from '../plan/index.js';
import { newRecord } from '../workload/index.js';
import { FaultOperator, type ReplicaSet, ServiceNode, RecordSource, ProxyWay } from '../world/index.js';
import { Poller } from './poller.js';

const POLLERS = 16;
const WRITTEN_EVERY_MS = 100;
const LIVE_MS = 30_000;

export interface Cuts {
  count: number;
  /** The pause before each, at least and below, in milliseconds. */
  every: [number, number];
}

/**
 * Lets one instance serve light pollers through a proxy that cuts all its connections again and again. Throws where a
 * plain change of another application, made after the last cut, is not delivered within 30 s. Answers what happened.
 */
export async function liveThroughCuts(set: ReplicaSet, seed: number, cuts: Cuts): Promise<string> {
  const database = `cuts${seed}`;
  const source = await RecordSource.connect(set.uri(database));
  const way = await ProxyWay.to(await set.primaryPort());
  const login = set.login(await set.serviceUser(source));
  const service = new ServiceNode(database, way.uri(database, login));
  try {
    await new FaultOperator(source).furnish();
    await service.start();
    await service.ready();
    const connections = await cutUnderLoad({ service, source, way }, Random.for(seed, 'cuts'), cuts);
    const milliseconds = await delivered(service, source);
    return `seed ${seed}: ${cuts.count} cuts of ${connections} connections, live after ${milliseconds} ms`;
  } finally {
    await service.kill();
    await way.close();
    await source.client.close();
  }
}

interface Cast {
  service: ServiceNode;
  source: RecordSource;
  way: ProxyWay;
}

/** Answers how many connections were cut. */
async function cutUnderLoad({ service, source, way }: Cast, random: Random, cuts: Cuts): Promise<number> {
  const stop = new AbortController();
  const pollers = Array.from({ length: POLLERS }, () => new Poller(service.url ?? '', source.tenant));
  const polling = pollers.map((poller) => poller.poll(stop.signal));
  let n = 0;
  const writer = new Repeatedly(WRITTEN_EVERY_MS, () => write(source, source.tenant, `busy-${(n += 1)}`));
  let connections = 0;
  for (let cut = 0; cut < cuts.count; cut += 1) {
    const [least, below] = cuts.every;
    await wait(least + random.below(below - least));
    connections += way.cut('FIN');
  }
  stop.abort();
  await Promise.all([writer.stop(), ...polling]);
  return connections;
}

/** Milliseconds until a plain change of another application is delivered. */
async function delivered(service: ServiceNode, source: RecordSource): Promise<number> {
  const begun = performance.now();
  const poller = new Poller(service.url ?? '', source.elsewhere);
  await write(source, source.elsewhere, 'plain');
  let last = '';
  await eventually(async () => {
    await poller.once().catch((error: unknown) => (last = String(error)));
    return poller.held.has('plain');
  }, LIVE_MS).catch(async () => {
    throw new Error(
      `Not live ${LIVE_MS} ms after the last cut: ${last}; ${await lastWords(service, source)}`,
    );
  });
  return Math.round(performance.now() - begun);
}

function write(source: RecordSource, tenant: RecordSource['tenant'], id: string): Promise<unknown> {
  const content = someContent(new Random(0));
  const record = newRecord(tenant, { kind: 'product', id, stamp: 'right', content });
  return source.records('product').insertOne(record);
}

async function lastWords(service: ServiceNode, source: RecordSource): Promise<string> {
  const state = { leads: await service.leads(), isReady: await service.isReady() };
  const lease = await source.db.collection('tidemark.leases').findOne({});
  return `${JSON.stringify({ ...state, lease, now: new Date() })}; it said last: ${service.lines.slice(-5).join('\n')}`;
}
