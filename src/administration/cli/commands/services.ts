import type { mongo } from 'mongoose';
import {
  assertApplication,
  filterInForce,
  filterJson,
  filterOf,
  filterPlan,
  type FilterPlan,
  type IndexWish,
  indexWish,
  leftOutText,
  listServices,
  makeFilterIndex,
  nameOfService,
  previewFilter,
  readService,
  removeService,
  setService,
  storedFilter,
} from '../../plain.js';
import {
  effortFault,
  type Filter,
  filterFault,
  isEnabled,
  isNamed,
  type ServiceKey,
  type StoredService,
} from '../../../application/plain.js';
import { count, FatalError, UsageError } from '../../../platform/common/index.js';
import { type Kind, KINDS } from '../../../kinds/index.js';
import type { Tenant } from '../../../record/index.js';
import type { CommandContext, Outcome, Run } from '../command.js';
import type {
  serviceIndex,
  serviceList,
  servicePreview,
  serviceRemove,
  serviceSet,
} from '../descriptions.js';
import { progressOn } from '../import/index.js';
import { choiceOf, kindOf, nameOf, serviceKeyOf, tenantOf } from '../input.js';
import { previewLines, savedLines } from '../preview-lines.js';
import { databaseOf, deskOn } from '../session.js';
import { cell, table } from '../table.js';

/** Time limit for counting the effect of a filter that was set, in ms. */
const COUNT_MS = 5000;
/** Most bytes of BSON of all services in a list. */
const MOST_BYTES = 32 * 1024 * 1024;

export const runSet: Run<typeof serviceSet> = async (context, { filter: text, description, ...names }) => {
  const key = serviceKeyOf(names);
  const filter = await filterOf(text);
  const changeContext = deskOn(context, await context.prepared());
  await assertApplication(changeContext.db, key);
  const inForce = await filterInForce(changeContext.db, key);
  await setService(changeContext, key, { filter, description });
  const preview = await consequences(changeContext.db, key, filter, inForce);
  return {
    text: [`The ${nameOfService(key)} is set. ${preview.first}`.trimEnd(), ...preview.more].join('\n'),
    json: { ...key, filter: filterJson(filter), ...preview.counts },
  };
};

/** The effect of the filter, in numbers. Failures are ignored, because the service is already set. */
async function consequences(db: mongo.Db, key: ServiceKey, filter: Filter, inForce: Filter | undefined) {
  const options = { inForce, maxTimeMS: COUNT_MS };
  const preview = await previewFilter(db, key, filter, options).catch(() => undefined);
  if (preview === undefined) return { first: '', more: [], counts: {} };
  const { matching, records, restamps, error, warnings } = preview;
  const isServed = await readService(db, key).then(
    ({ document }) => isEnabled(document),
    () => true,
  );
  const [first = '', ...more] = savedLines(preview, isServed);
  return {
    ...{ first, more },
    counts: { matching: matching.count, records, restamps, ...(error !== undefined && { error }), warnings },
  };
}

export const runList: Run<typeof serviceList> = async (context, { org, app, kind }) => {
  const which: Partial<ServiceKey> = {
    ...(org !== undefined && { organizationid: nameOf('org', org) }),
    ...(app !== undefined && { appid: nameOf('app', app) }),
  };
  const only = kind === undefined ? undefined : choiceOf('kind', kind, KINDS);
  const { services: all, leftOut } = await listServices(databaseOf(await context.connected()), {
    which,
    assertRoom,
  });
  const services = only === undefined ? all : all.filter((one) => one.kind === only);
  const rows = services.map((service) => [
    ...[service.organizationid, service.appid, service.kind, service.name].map(cell),
    stateOf(service),
    cell(service.filter),
  ]);
  return {
    text: table(['ORG', 'APP', 'KIND', 'NAME', 'STATE', 'FILTER'], rows, 'There is no such service.'),
    json: services.map((service) => ({
      ...service,
      filter: filterJson(service.filter),
      state: stateOf(service),
    })),
    ...(leftOut.length > 0 && { failure: `Left out: ${leftOut.map(leftOutText).join(' ')}` }),
  };
};

function assertRoom(bytes: number): void {
  if (bytes > MOST_BYTES)
    throw new FatalError(
      `The services have ${count(bytes)} bytes; at most ${count(MOST_BYTES)} bytes are listed at once. List one application at a time, with --org and --app.`,
    );
}

function stateOf(service: StoredService): string {
  if (!isNamed(service)) return 'not served: its names are not valid';
  if (!isEnabled(service)) return 'off';
  if (filterFault(service.filter) !== undefined) return 'not valid';
  return effortFault(service.filter as Filter) === undefined ? 'on' : 'on, but it may take long';
}

export const runRemove: Run<typeof serviceRemove> = async (context, names) => {
  const key = serviceKeyOf(names);
  await removeService(deskOn(context, await context.connected()), key);
  return { text: `The ${nameOfService(key)} is removed.`, json: key };
};

export const runPreview: Run<typeof servicePreview> = async (context, { name, filter: text, ...names }) => {
  const of = { ...tenantOf(names), kind: kindOf(names) };
  if (text === undefined && name === undefined) throw new UsageError('Give --name or --filter.');
  const given = text === undefined ? undefined : await filterOf(text);
  const key = name === undefined ? undefined : serviceKeyOf({ ...names, name });
  const db = databaseOf(await context.connected());
  await assertApplication(db, of);
  const filter = given ?? (await storedFilter(db, key!));
  const inForce = given === undefined || key === undefined ? undefined : await filterInForce(db, key);
  const preview = await previewFilter(db, of, filter, { inForce, maxTimeMS: context.settings.queryMs });
  const lines = previewLines(preview, { ...of, filter }, context.terminal.calling?.admin);
  if (given !== undefined && key !== undefined && inForce === undefined)
    lines.push(`No filter of ${nameOfService(key)} has been in force yet: no record enters or leaves.`);
  return { text: lines.join('\n'), json: preview };
};

interface Task extends Tenant {
  kind: Kind;
  filter: Filter;
}

export const runIndex: Run<typeof serviceIndex> = async (
  context,
  { name, filter: text, 'dry-run': isDry, ...names },
) => {
  const of = { ...tenantOf(names), kind: kindOf(names) };
  if ((text === undefined) === (name === undefined)) throw new UsageError('Give either --name or --filter.');
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
  return isDry ? dryOutcome(wish) : made(context, task, wish);
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

function dryOutcome({ name, collection, key, stands, records }: IndexWish): Outcome {
  const text = stands
    ? `The index ${name} of ${collection} already exists, or is being built.`
    : `It would build the index ${name} of ${collection}, over ${count(records)} records: ${JSON.stringify(key)}.`;
  return { text, json: { indexes: [name], key, isMade: false, isServed: false } };
}

/** Builds the index. Waits for an index that is already being built. */
async function made(context: CommandContext, task: Task, wish: IndexWish): Promise<Outcome> {
  const { name, collection, key, records } = wish;
  const changeContext = deskOn(context, await context.connected());
  const stop = context.terminal.interruptible();
  const progress = progressOn(context.terminal.errors, records, 'records');
  const watching = {
    stop,
    onProgress: (share: number) => progress.at(Math.round(share * records), Math.round(share * records)),
  };
  const isMade = await makeFilterIndex(changeContext, task, wish, watching)
    .then((isDone) => {
      if (isDone) watching.onProgress(1);
      return isDone;
    })
    .finally(() => progress.end());
  const isServed =
    isMade && (await filterPlan(changeContext.db, task, task.filter))?.readsEveryRecord === false;
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
