/** Resident memory of this service while 16 consumers harvest for minutes, and while one asks for pages of 10,000. */
import { tidemark } from '../contestants/index.mjs';
import { feedPath } from '../contestants/replication-api.mjs';
import { stampAt } from '../data/products.mjs';
import { residentOf } from '../machine/cpu.mjs';
import { say } from '../machine/say.mjs';
import { setInterval, clearInterval } from 'node:timers';
import { answered } from './answered.mjs';
import { median } from './statistics.mjs';

const CONNECTIONS = 16;
const LARGE_SHARE = 0.1;
const SAMPLE_MS = 500;
const MOST_MB = 250;
const MOST_GROWTH = 1.1;
const MB = 1024 ** 2;

export async function memory(stage) {
  const server = await stage.start(tidemark);
  const duration = stage.options.memoryMinutes * 60_000;
  const many = await sampledWhile(server, () =>
    harvestAll(server, stage, { connections: CONNECTIONS, limit: 1000, duration }),
  );
  const large = await sampledWhile(server, () =>
    harvestAll(server, stage, { connections: 1, limit: 10_000, duration: duration * LARGE_SHARE }),
  );
  const minutes = `${stage.options.memoryMinutes} minutes`;
  return [
    {
      figure: `memory, 16 connections with pages of 1,000, ${minutes}: most`,
      value: Math.max(...many),
      unit: ' MB',
      atMost: MOST_MB,
    },
    {
      figure: 'the same: median of the last third beside that of the second',
      value: growthOf(many),
      unit: 'x',
      atMost: MOST_GROWTH,
    },
    {
      figure: 'memory, behind that one connection with pages of 10,000: most',
      value: Math.max(...large),
      unit: ' MB',
      atMost: MOST_MB,
    },
  ];
}

/** Megabytes, sample by sample. */
async function sampledWhile(server, work) {
  const samples = [];
  const timer = setInterval(() => samples.push(residentOf(server.process.pid) / MB), SAMPLE_MS);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  say(
    `  ${samples.length} samples, ${Math.min(...samples).toFixed(0)} to ${Math.max(...samples).toFixed(0)} MB`,
  );
  return samples;
}

/** Harvests over and over on every connection until the time (milliseconds) is over. */
async function harvestAll(server, stage, { connections, limit, duration }) {
  const to = stampAt(stage.options.items).toISOString();
  const end = Date.now() + duration;
  const consumer = async () => {
    const connection = server.connection();
    for (let lastoffsetid = ''; Date.now() < end;) {
      const path = feedPath('product', 'default/updates', { to, lastoffsetid, limit });
      const body = await answered(() => connection.request({ path }));
      lastoffsetid = /"nextoffsetid":"(\w*)"\}$/.exec(body.toString('latin1', body.length - 60))[1];
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: connections }, consumer));
}

function growthOf(samples) {
  const third = Math.floor(samples.length / 3);
  return median(samples.slice(2 * third)) / median(samples.slice(third, 2 * third));
}
