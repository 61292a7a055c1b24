/**
 * Loaded into the service before it starts (`node --import`): of the time in which the watcher works, how much goes to which
 * part. SIGUSR2 writes what was spent since the last one into the file that TIDEMARK_SPANS names:
 * `{ part: { wall, cpu, mongod, calls } }` in milliseconds. A part does not count what it spends in another one.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { PARTS } from './watcher-parts.mjs';

const { TIDEMARK_SPANS: file, TIDEMARK_SPANS_MONGOD: mongod } = process.env;
const TICK_MS = 10;
const USER_TIME = 11;
const DIST = new URL('../../dist/replication/', import.meta.url);

/** What begins a span: the same methods in other work, such as jobs, do not count. */
const ROOTS = new Set(['batches', 'second read', 'filters', 'token']);

const frames = new AsyncLocalStorage();
let spent = {};

for (const [part, module, name, methods] of PARTS) {
  const { prototype } = (await import(new URL(`${module}.js`, DIST)))[name];
  for (const method of methods) prototype[method] = measured(part, prototype[method]);
}

process.on('SIGUSR2', () => {
  writeFileSync(`${file}.part`, JSON.stringify(spent));
  renameSync(`${file}.part`, file);
  spent = {};
});

function measured(part, method) {
  if (typeof method !== 'function') throw new Error(`There is nothing to measure for ${part}`);
  return function (...args) {
    const outer = frames.getStore();
    if (outer === undefined && !ROOTS.has(part)) return method.apply(this, args);
    const frame = { inner: { wall: 0, cpu: 0, mongod: 0 } };
    const before = clocks();
    return frames.run(frame, async () => {
      try {
        return await method.apply(this, args);
      } finally {
        count(part, before, frame, outer);
      }
    });
  };
}

function count(part, before, { inner }, outer) {
  const after = clocks();
  const own = (spent[part] ??= { wall: 0, cpu: 0, mongod: 0, calls: 0 });
  own.calls += 1;
  for (const clock of Object.keys(before)) {
    const whole = after[clock] - before[clock];
    own[clock] += whole - inner[clock];
    if (outer !== undefined) outer.inner[clock] += whole;
  }
}

/** Milliseconds. */
function clocks() {
  const { user, system } = process.cpuUsage();
  return { wall: performance.now(), cpu: (user + system) / 1000, mongod: cpuOfMongod() };
}

function cpuOfMongod() {
  const stat = readFileSync(`/proc/${mongod}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[USER_TIME]) + Number(fields[USER_TIME + 1])) * TICK_MS;
}
