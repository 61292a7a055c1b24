import { checksOf, feedsIn } from '../contract-check.js';
import type { Findings } from '../findings.js';
import { brief } from '../http-answer.js';
import { type HarvestedFeed, idOf, type Reading } from '../reading.js';
import { filtersOf } from '../target.js';

const idsOf = ({ items }: HarvestedFeed) => new Set(items.map(idOf));
const answerOf = ({ pages }: HarvestedFeed) => pages[0]!.answer;

/** Feeds of a service or a channel with a filter, all of them read to their end. */
interface SplitFeeds {
  path: string;
  updates: HarvestedFeed;
  softdeletes: HarvestedFeed;
  all: HarvestedFeed;
}

async function eachFilter(
  reading: Reading,
  found: Findings,
  look: (feeds: SplitFeeds) => void,
): Promise<void> {
  const { target } = reading.server;
  const named = filtersOf(target).filter(({ matchesAll }) => !matchesAll);
  if (named.length === 0) found.lacking('no service or channel with a filter: see --service and --channel');
  const all = await reading.harvest({ path: `${target.kind}/default/updates`, shows: 'updates' });
  for (const { path } of named) {
    const updates = await reading.harvest({ path: `${path}/updates`, shows: 'updates' });
    const softdeletes = await reading.harvest({ path: `${path}/softdeletes`, shows: 'softdeletes' });
    const isWhole = [all, updates, softdeletes].every((feed) => feed.isWhole);
    if (!isWhole) found.lacking(`${path} has more items than --pages allows`);
    else if (updates.items.length === 0 || softdeletes.items.length === 0)
      found.lacking(`${path} has no updates or no soft deletes`);
    else look({ path, updates, softdeletes, all });
  }
}

async function disjoint(reading: Reading, found: Findings): Promise<void> {
  await eachFilter(reading, found, ({ path, updates, softdeletes }) => {
    const matching = idsOf(updates);
    const both = [...idsOf(softdeletes)].find((id) => matching.has(id));
    found.that(
      both === undefined,
      answerOf(softdeletes),
      `${path}: no id both in updates and in softdeletes`,
      brief(both),
    );
  });
}

async function together(reading: Reading, found: Findings): Promise<void> {
  await eachFilter(reading, found, ({ path, updates, softdeletes, all }) => {
    const told = new Set([...idsOf(updates), ...idsOf(softdeletes)]);
    const known = idsOf(all);
    const lost = [...known].find((id) => !told.has(id));
    found.that(
      lost === undefined,
      answerOf(softdeletes),
      `${path}: every record of default in updates or softdeletes`,
      brief(lost),
    );
    const added = [...told].find((id) => !known.has(id));
    found.that(
      added === undefined,
      answerOf(updates),
      `${path}: no record that is not in default`,
      brief(added),
    );
  });
}

async function defaultIsAll(reading: Reading, found: Findings): Promise<void> {
  const { kind } = reading.server.target;
  const page = await reading.page(`${kind}/default/softdeletes`);
  const isEmpty = page.answer.status === 200 && page.items.length === 0;
  found.that(isEmpty, page.answer, `${kind}/default/softdeletes: 200 and an empty page`);
}

async function gone(reading: Reading, found: Findings): Promise<void> {
  const { kind } = reading.server.target;
  const deleted = await reading.harvest({ path: `${kind}/harddeletes`, shows: 'harddeletes' });
  if (deleted.items.length === 0) return found.lacking(`no items in ${kind}/harddeletes`);
  const ids = idsOf(deleted);
  for (const feed of feedsIn(reading, 'updates', 'softdeletes')) {
    const alive = await reading.harvest(feed);
    const both = [...idsOf(alive)].find((id) => ids.has(id));
    found.that(
      both === undefined,
      answerOf(alive),
      `${feed.path}: no id that is among the hard deletes`,
      brief(both),
    );
  }
}

export const feedChecks = checksOf('seed', {
  'softdeletes-disjoint': [
    '`updates` are records that match, `softdeletes` those that do not: no record is in both.',
    disjoint,
  ],
  'softdeletes-rest': [
    '`updates` and `softdeletes` together are every record of the same collection.',
    together,
  ],
  'default-softdeletes': [
    'The service `default` filters nothing, so its `softdeletes` are empty.',
    defaultIsAll,
  ],
  'harddeletes-gone': ['`harddeletes` are records that are no longer in the collection.', gone],
});
