/**
 * The lost-change test: two instances, one of them paused repeatedly, writers, and a consumer that harvests what has
 * changed since its last harvest. What the consumer does not hold at the end is lost.
 */
import { peers, tidemark } from '../contestants/index.mjs';
import { say } from '../machine/say.mjs';
import { Copier } from './lost/copier.mjs';
import { foreignWriters } from './lost/foreign-writers.mjs';
import { pausesOf } from './lost/pauses.mjs';
import { clientWriters } from './lost/client-writers.mjs';

const THROUGH = 'written through two instances, one of them paused repeatedly';
const ASIDE = 'written by other programs with clocks of their own';

export async function lostChanges(stage) {
  const chosen = [tidemark, ...peers].filter(({ name }) =>
    [tidemark.name, ...stage.options.against].includes(name),
  );
  const rows = [];
  for (const contestant of chosen) rows.push(await rowOf(contestant, THROUGH, stage));
  for (const contestant of chosen.filter(({ foreignChanges }) => foreignChanges))
    rows.push(await rowOf(contestant, ASIDE, stage));
  return rows;
}

async function rowOf(contestant, how, stage) {
  const figure = `changes lost, ${how}: ${contestant.title}`;
  try {
    const { lost, total, harvests } = await tested(contestant, how, stage);
    say(`  ${contestant.title}: ${lost} of ${total} lost, ${harvests} harvests`);
    const bound = contestant === tidemark ? { value: lost, atMost: 0, isCount: true } : {};
    return { figure, text: `${lost} of ${total}`, lost, total, harvests, ...bound };
  } catch (error) {
    say(`  ${contestant.title} failed: ${error.message}`);
    return { figure, failure: error.message };
  } finally {
    await stage.stopServers();
  }
}

async function tested(contestant, how, stage) {
  const database = await stage.furnished(`lost-${contestant.name}-${how === THROUGH ? 'through' : 'aside'}`);
  const first = await stage.start(contestant, database);
  const second = await stage.start(contestant, database);
  const follows = how === THROUGH ? contestant.changes : contestant.foreignChanges;
  const consumer = new Copier(first, follows);

  const stopHarvests = consumer.follow();
  const stopPauses = pausesOf(second);
  const written =
    how === THROUGH
      ? clientWriters([first, second], contestant.changes, stage.options.lostSeconds)
      : foreignWriters(stage.client.db(database), stage.options.lostSeconds);
  const versions = await written.finally(stopPauses);
  await stopHarvests();
  return { ...compared(versions, consumer.copy), harvests: consumer.harvests };
}

/** Every write that was acknowledged is one change: it is lost where the copy knows nothing of it or of a later one. */
function compared(versions, copy) {
  let [lost, total] = [0, 0];
  for (const [key, version] of versions) {
    total += version;
    lost += version - Math.min(version, copy.get(key) ?? 0);
  }
  return { lost, total };
}
