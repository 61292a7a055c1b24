import {
  assertApplication,
  filterOf,
  filterPlan,
  type IndexWish,
  indexWish,
  makeFilterIndex,
  type FilterPlan,
  storedFilter,
} from '../../administration/plain.js';
import type { Filter } from '../../application/index.js';
import { count, FatalError } from '../../common/index.js';
import type { Kind, Tenant } from '../../record/index.js';
import type { CommandContext, Outcome, Run } from '../command.js';
import type { serviceIndex } from '../descriptions/service.js';
import { progressOn } from '../import/index.js';
import { kindOf, serviceKeyOf, tenantOf } from '../option-values.js';
import { databaseOf, deskOn } from '../session.js';

interface Task extends Tenant {
  kind: Kind;
  filter: Filter;
}

export const run: Run<typeof serviceIndex> = async (
  context,
  { name, filter: text, 'dry-run': isDry, ...names },
) => {
  const of = { ...tenantOf(names), kind: kindOf(names) };
  if ((text === undefined) === (name === undefined)) throw new FatalError('Give either --name or --filter.');
  const given = text === undefined ? undefined : await filterOf(text);
  const key = name === undefined ? undefined : serviceKeyOf({ ...names, name });
  const db = databaseOf(await context.connected());
  await assertApplication(db, of);
  const task = { ...of, filter: given ?? (await storedFilter(db, key!)) };
  const plan = await filterPlan(db, of, task.filter);
  if (plan?.readsEveryRecord === false) return served(plan);
  const wish = await indexWish(db, of.kind, task.filter);
  if (wish === undefined)
    throw new FatalError('No index would serve this filter: every record has to be read.');
  assertShown(wish);
  return isDry ? told(wish) : made(context, task, wish);
};

function served({ indexes }: FilterPlan): Outcome {
  const text =
    indexes.length === 0 ? 'Nothing has to be read for it.' : `Served by ${indexes.join(', ')} already.`;
  return { text, json: { indexes, isMade: false, isServed: true } };
}

function assertShown({ isHidden, name, collection }: IndexWish): void {
  if (isHidden)
    throw new FatalError(
      `The index ${name} of ${collection} exists, but is hidden from queries. Show it: db.${collection}.unhideIndex("${name}").`,
    );
}

function told({ name, collection, key, stands, records }: IndexWish): Outcome {
  const text = stands
    ? `The index ${name} of ${collection} already exists, or is being built.`
    : `It would build the index ${name} of ${collection}, over ${count(records)} records: ${JSON.stringify(key)}.`;
  return { text, json: { indexes: [name], key, isMade: false, isServed: false } };
}

/** One that is being made is waited for. */
async function made(context: CommandContext, task: Task, wish: IndexWish): Promise<Outcome> {
  const { name, collection, key, records } = wish;
  const desk = deskOn(context, await context.connected());
  const stop = context.terminal.interruptible();
  const progress = progressOn(context.terminal.errors, records, 'records');
  const watching = {
    stop,
    onProgress: (share: number) => progress.at(Math.round(share * records), Math.round(share * records)),
  };
  const isMade = await makeFilterIndex(desk, task, wish, watching)
    .then((isDone) => {
      if (isDone) watching.onProgress(1);
      return isDone;
    })
    .finally(() => progress.end());
  const isServed = isMade && (await filterPlan(desk.db, task, task.filter))?.readsEveryRecord === false;
  const json = { indexes: [name], key, isMade: isMade && !wish.stands, isServed };
  if (!isMade)
    return { text: `The index ${name} of ${collection} is being built.`, json, failure: leftLine(wish) };
  const use = isServed ? 'serves the filter' : 'is not used, since MongoDB expects no gain';
  return { text: `The index ${name} of ${collection} exists, and ${use}.`, json };
}

function leftLine({ name, collection }: IndexWish): string {
  return (
    'Interrupted: the database goes on with it. Run the command again to watch it, ' +
    `or end it: db.${collection}.dropIndex("${name}").`
  );
}
