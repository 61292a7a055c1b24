/** Copies that the client keeps of a service's whole `changes`, beside a client that throws the same pages away, in turns. */
import { tidemark } from '../contestants/index.mjs';
import { CREDENTIAL } from '../data/operator.mjs';
import { TENANT } from '../data/products.mjs';
import { HOST } from '../machine/ports.mjs';
import { ask, Process } from '../machine/processes.mjs';
import { say } from '../machine/say.mjs';
import { forms } from './copies/forms.mjs';
import { medianOf } from './statistics.mjs';

const FEED = { org: TENANT.organizationid, app: TENANT.appid, kind: 'product', service: 'default' };
const WANTED = 0.6;
/** Whoever throws pages away has nothing to clear. */
const nowhere = { title: 'thrown away', place: () => ({ clear: () => undefined }) };

export async function copies(stage) {
  const entrants = [nowhere, ...forms].map((form) => ({ form, rounds: [] }));
  const entering = entrants.map((entrant) => unlessFailed(entrant, () => enter(entrant, stage)));
  const [{ port }] = await Promise.all([stage.start(tidemark), ...entering]);
  const asked = { ...FEED, ...CREDENTIAL, url: `http://${HOST}:${port}` };
  const [reading, ...copying] = entrants.filter(({ place, failure }) => place ?? failure);
  // The first round warms up.
  for (let round = 0; round <= stage.options.rounds; round += 1) {
    const turns = [reading, ...copying];
    for (const entrant of round % 2 === 0 ? turns.reverse() : turns)
      await unlessFailed(entrant, () => oneRound(entrant, asked, { round, items: stage.options.items }));
    if (reading.failure !== undefined) throw new Error(`a client that keeps nothing: ${reading.failure}`);
  }
  return copying.flatMap((entrant) => rowsOf(reading, entrant));
}

/** Each has a process of its own, so that none inherits the heap of another. */
async function enter(entrant, stage) {
  entrant.place = await entrant.form.place(stage);
  if (entrant.place === undefined) return;
  const worker = new Process(process.execPath, ['bench/measures/copies/worker.mjs'], { ipc: true });
  entrant.worker = stage.started(worker);
}

async function oneRound({ form, place, worker, rounds }, asked, { round, items }) {
  const { failure, told, held, ...cost } = await ask(worker, { ...asked, form: form.name, to: place.to });
  await place.clear();
  if (failure !== undefined) throw new Error(failure);
  if (told !== items) throw new Error(`was told of ${told} of ${items} products`);
  if (held !== items) throw new Error(`holds ${held} of ${items} products`);
  if (round === 0) return;
  rounds.push(cost);
  const rate = Math.round((1000 * items) / cost.ms).toLocaleString('en');
  say(`  round ${round}: ${form.title}, ${rate} a second, ${(cost.cpu / items).toFixed(1)} µs of CPU each`);
}

/** A copy that fails is out of the race, and the others go on. */
async function unlessFailed(entrant, work) {
  if (entrant.failure !== undefined) return;
  try {
    await work();
  } catch (error) {
    entrant.failure = error.message;
    say(`  ${entrant.form.title} failed: ${error.message}`);
    await entrant.worker?.stop();
  }
}

function rowsOf(reading, { form, rounds, failure }) {
  const figure = `copy in ${form.title} relative to a client that discards pages`;
  if (failure !== undefined) return [{ figure: `${figure}: rate`, failure }];
  const ratio = (figureOf) => medianOf(rounds, (cost, round) => figureOf(cost, reading.rounds[round]));
  return [
    {
      figure: `${figure}: rate`,
      value: ratio((own, read) => read.ms / own.ms),
      ...{ unit: 'x', atLeast: WANTED, rounds: { reading: reading.rounds, rounds } },
    },
    {
      figure: `${figure}: CPU of the client`,
      value: ratio((own, read) => own.cpu / read.cpu),
      unit: 'x',
    },
  ];
}
