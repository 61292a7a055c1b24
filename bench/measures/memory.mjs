/** Resident memory of this service while 16 consumers harvest for minutes, while one requests pages of 10,000, and while 100 request such pages and read nothing. */
import { tidemark } from '../contestants/index.mjs';
import { feedPath } from '../contestants/replication-api.mjs';
import { stampAt } from '../data/products.mjs';
import { residentOf } from '../machine/cpu.mjs';
import { say } from '../machine/say.mjs';
import { setInterval, clearInterval } from 'node:timers';
import { setTimeout as wait } from 'node:timers/promises';
import { answered } from './answered.mjs';
import { median } from './statistics.mjs';

const CONNECTIONS = 16;
const LARGE = 10_000;
const LARGE_SHARE = 0.1;
const SAMPLE_MS = 500;
const MOST_MB = 250;
const MOST_GROWTH = 1.1;
const HELD = 100;
const MOST_HELD_MB = 96;
const MB = 1024 ** 2;

export async function memory(stage) {
  return [...(await harvested(stage)), await held(stage)];
}

async function harvested(stage) {
  const server = await stage.start(tidemark);
  const duration = stage.options.memoryMinutes * 60_000;
  const many = await sampledWhile(server, () =>
    harvestAll(server, stage, { connections: CONNECTIONS, limit: 1000, duration }),
  );
  const large = await sampledWhile(server, () =>
    harvestAll(server, stage, { connections: 1, limit: LARGE, duration: duration * LARGE_SHARE }),
  );
  await server.stop();
  const minutes = `${stage.options.memoryMinutes} minutes`;
  return [
    {
      figure: `memory, 16 connections with pages of 1,000, ${minutes}: maximum`,
      value: Math.max(...many),
      unit: ' MB',
      atMost: MOST_MB,
    },
    {
      figure: 'the same: median of the last third relative to the second',
      value: growthOf(many),
      unit: 'x',
      atMost: MOST_GROWTH,
    },
    {
      figure: 'memory, then one connection with pages of 10,000: maximum',
      value: Math.max(...large),
      unit: ' MB',
      atMost: MOST_MB,
    },
  ];
}

/** On a service that has just started, since what large pages have left behind would hide what readers that are slow cost. */
async function held(stage) {
  const server = await stage.start(tidemark);
  const duration = stage.options.memoryMinutes * 60_000 * LARGE_SHARE;
  const before = await sampledWhile(server, () =>
    harvestAll(server, stage, { connections: CONNECTIONS, limit: 1000, duration }),
  );
  const readers = Array.from({ length: HELD }, () => server.connection());
  const during = await sampledWhile(server, async () => {
    await Promise.all(readers.map((reader) => holdPage(reader, stage)));
    await wait(duration);
  });
  readers.forEach((reader) => reader.close());
  return {
    figure: `memory while ${HELD} connections with pages of 10,000 read nothing: increase over the maximum of 16 with pages of 1,000`,
    value: Math.max(...during) - Math.max(...before),
    ...{ unit: ' MB', atMost: MOST_HELD_MB, before: Math.max(...before), during: Math.max(...during) },
  };
}

async function holdPage(reader, stage) {
  const path = pagePath(stage, { lastoffsetid: '', limit: LARGE });
  const status = await reader.hold(path);
  if (status !== 200) throw new Error(`a page of ${LARGE} answered ${status}`);
}

/** Megabytes, sample by sample. */
async function sampledWhile(server, work) {
  const samples = [];
  const sample = () => samples.push(residentOf(server.process.pid) / MB);
  const timer = setInterval(sample, SAMPLE_MS);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  sample();
  say(
    `  ${samples.length} samples, ${Math.min(...samples).toFixed(0)} to ${Math.max(...samples).toFixed(0)} MB`,
  );
  return samples;
}

/** Harvests over and over on every connection until the time (milliseconds) is over. */
async function harvestAll(server, stage, { connections, limit, duration }) {
  const end = Date.now() + duration;
  const consumer = async () => {
    const connection = server.connection();
    for (let lastoffsetid = ''; Date.now() < end;) {
      const path = pagePath(stage, { lastoffsetid, limit });
      const body = await answered(() => connection.request({ path }));
      lastoffsetid = /"nextoffsetid":"(\w*)"\}\n?$/.exec(body.toString('latin1', body.length - 60))[1];
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: connections }, consumer));
}

function pagePath({ options: { items } }, page) {
  return feedPath('product', 'default/updates', { to: stampAt(items).toISOString(), ...page });
}

function growthOf(samples) {
  const third = Math.floor(samples.length / 3);
  return median(samples.slice(2 * third)) / median(samples.slice(third, 2 * third));
}
