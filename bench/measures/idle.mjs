/** The share of one core that a service without requests uses, with its demo. */
import { setTimeout as wait } from 'node:timers/promises';
import { startDemo } from '../contestants/tidemark.mjs';
import { cpuOfEach } from '../machine/cpu.mjs';
import { say } from '../machine/say.mjs';

/** What the making of the demo has left to do is done by then. */
const SETTLED_MS = 5000;
const MOST_PERCENT = 1.5;
const DATABASE = 'mongod';

export async function idle(stage) {
  const service = await stage.started(await startDemo());
  const seconds = stage.options.idleSeconds;
  await wait(SETTLED_MS);
  const before = usedBy(service);
  await wait(seconds * 1000);
  const after = usedBy(service);
  const percentOf = (part) => (after[part] - before[part]) / (seconds * 10_000);
  const used = { service: percentOf('service'), mongod: percentOf('mongod') };
  say(`  ${used.service.toFixed(2)} % of a core, its mongod ${used.mongod.toFixed(2)} %`);
  const figure = `CPU of an idle service with its demo over ${seconds} s, of one core`;
  return [
    { figure, value: used.service, unit: ' %', atMost: MOST_PERCENT },
    { figure: `${figure}, in mongod`, value: used.mongod, unit: ' %' },
  ];
}

/** Microseconds so far, of the embedded mongod and of everything else that the service has started. */
function usedBy({ process: { pid } }) {
  const used = { service: 0, mongod: 0 };
  for (const { name, cpu } of cpuOfEach(pid)) used[name === DATABASE ? 'mongod' : 'service'] += cpu;
  return used;
}
