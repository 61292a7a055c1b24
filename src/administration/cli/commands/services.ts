import type { mongo } from 'mongoose';
import {
  assertApplication,
  editedVersion,
  filterJson,
  filterOf,
  filterPlan,
  type FilterPlan,
  type IndexProposal,
  proposedIndex,
  leftOutText,
  listServices,
  makeFilterIndex,
  nameOfService,
  previewFilter,
  readService,
  removeService,
  serviceFault,
  type ServiceVersion,
  setNameFault,
  setService,
  storedFilter,
  versionInForce,
} from '../../plain.js';
import {
  DEFAULT_SERVICE,
  effortFault,
  type Filter,
  filterFault,
  isEnabled,
  isOff,
  isNamed,
  type ServiceKey,
  type StoredService,
} from '../../../application/plain.js';
import { count, FatalError, UsageError } from '../../../platform/common/index.js';
import { type Kind, kindNames } from '../../../kinds/index.js';
import type { Tenant } from '../../../record/index.js';
import type { CommandContext, Outcome, Run } from '../command.js';
import type {
  serviceIndex,
  serviceList,
  servicePreview,
  serviceRemove,
  serviceSet,
} from '../descriptions.js';
import { byOption, choiceOf, kindOf, checkedName, serviceKeyOf, tenantOf } from '../input.js';
import { previewLines, savedLines } from '../preview-lines.js';
import { schemaExamplesIn, shownFieldsCell, shownFieldsIn, shownFieldsJson } from '../shown-fields-input.js';
import { databaseOf, changeContextOf } from '../session.js';
import { cell, table } from '../table.js';

/** Time limit for the exact counts after a service was set, in ms. The estimate that may follow has as long again. */
const COUNT_MS = 5000;
/** Maximum number of bytes of BSON of all services in a list. */
const MOST_BYTES = 32 * 1024 * 1024;

export const runSet: Run<typeof serviceSet> = async (
  context,
  { filter: text, description, org, app, kind, name, ...chosen },
) => {
  const key = serviceKeyOf({ org, app, kind, name });
  const filter = text === undefined ? undefined : await filterOf(text);
  const setting = {
    ...{ filter, description, ...(await shownFieldsIn(chosen)) },
    schemaExamples: schemaExamplesIn(chosen),
  };
  const fault = setNameFault(key.name, setting);
  if (fault !== undefined) throw new UsageError(`--name "${key.name}" ${fault}`);
  if (filter === undefined && key.name !== DEFAULT_SERVICE) throw new UsageError('--filter is missing.');
  const changeContext = changeContextOf(context, await context.prepared());
  await assertApplication(changeContext.db, key);
  const inForce = await versionInForce(changeContext.db, key);
  await setService(changeContext, key, setting).catch((error: unknown) => {
    throw byOption(error);
  });
  const preview = await consequences(changeContext.db, key, { filter, inForce });
  return {
    text: [`The ${nameOfService(key)} is set. ${preview.first}`.trimEnd(), ...preview.more].join('\n'),
    json: { ...key, filter: filterJson(filter ?? {}), ...shownFieldsJson(setting), ...preview.counts },
  };
};

/** The effect of the new version, in numbers. Failures are ignored, because the service is already set. */
async function consequences(
  db: mongo.Db,
  key: ServiceKey,
  { filter, inForce }: { filter: Filter | undefined; inForce: ServiceVersion | undefined },
) {
  const preview = await editedVersion(db, key, { filter })
    .then((wanted) => previewFilter(db, key, wanted, { inForce, maxTimeMS: COUNT_MS }))
    .catch(() => undefined);
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
    ...(org !== undefined && { organizationid: checkedName('org', org) }),
    ...(app !== undefined && { appid: checkedName('app', app) }),
  };
  const only = kind === undefined ? undefined : choiceOf('kind', kind, kindNames());
  const { services: all, leftOut } = await listServices(databaseOf(await context.connected()), {
    which,
    assertRoom,
  });
  const services = only === undefined ? all : all.filter((one) => one.kind === only);
  const rows = services.map((service) => [
    ...[service.organizationid, service.appid, service.kind, service.name].map(cell),
    stateOf(service),
    cell(service.filter),
    shownFieldsCell(service),
  ]);
  return {
    text: table(
      ['ORG', 'APP', 'KIND', 'NAME', 'STATE', 'FILTER', 'FIELDS'],
      rows,
      'There is no such service.',
    ),
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
  if (isOff(service)) return 'off';
  if (!isEnabled(service)) return 'not valid';
  const filter = service.name === DEFAULT_SERVICE ? {} : service.filter;
  if (filterFault(filter) !== undefined) return 'not valid';
  const { fields, hash, allowHiddenFilter, schemaExamples } = service;
  const chosen = { fields, hash, allowHiddenFilter, schemaExamples };
  const rules = { name: service.name, filter: filter as Filter, ...chosen };
  if (serviceFault(rules) !== undefined) return 'not valid';
  return effortFault(filter as Filter) === undefined ? 'on' : 'on, but it may take long';
}

export const runRemove: Run<typeof serviceRemove> = async (context, names) => {
  const key = serviceKeyOf(names);
  await removeService(changeContextOf(context, await context.connected()), key);
  return { text: `The ${nameOfService(key)} is removed.`, json: key };
};

export const runPreview: Run<typeof servicePreview> = async (
  context,
  { name, filter: text, org, app, kind, ...chosen },
) => {
  const of = { ...tenantOf({ org, app }), kind: kindOf({ kind }) };
  if (text === undefined && name === undefined) throw new UsageError('Give --name or --filter.');
  const given = text === undefined ? undefined : await filterOf(text);
  const fields = await shownFieldsIn(chosen);
  const key = name === undefined ? undefined : serviceKeyOf({ org, app, kind, name });
  const db = databaseOf(await context.connected());
  await assertApplication(db, of);
  const filter = given ?? (await storedFilter(db, key!));
  const isEdit = given !== undefined || Object.values(fields).some((value) => value !== undefined);
  const inForce = key === undefined || !isEdit ? undefined : await versionInForce(db, key);
  const wanted = await editedVersion(db, { ...of, name }, { filter, ...fields }).catch((error: unknown) => {
    throw byOption(error);
  });
  const preview = await previewFilter(db, of, wanted, { inForce, maxTimeMS: context.settings.queryMs });
  const lines = previewLines(preview, { ...of, filter }, context.terminal.invocation?.admin);
  if (isEdit && key !== undefined && inForce === undefined)
    lines.push(
      `No filter of ${nameOfService(key)} has been in force yet, or the stored one cannot be read: it is not known which records enter or leave.`,
    );
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
  const proposal = await proposedIndex(db, of.kind, task.filter);
  if (proposal === undefined)
    throw new FatalError('No index would serve this filter: every record has to be read.');
  assertShown(proposal);
  return isDry ? dryOutcome(proposal) : made(context, task, proposal);
};

function served({ indexes }: FilterPlan): Outcome {
  const text =
    indexes.length === 0
      ? 'MongoDB reads nothing for this filter.'
      : `This filter is already served by ${indexes.join(', ')}.`;
  return { text, json: { indexes, isMade: false, isServed: true } };
}

function assertShown({ isHidden, name, collection }: IndexProposal): void {
  if (isHidden)
    throw new FatalError(
      `The index ${name} of ${collection} exists, but is hidden from queries. ` +
        `Unhide it: db.${collection}.unhideIndex("${name}").`,
    );
}

function dryOutcome({ name, collection, key, exists, records }: IndexProposal): Outcome {
  const text = exists
    ? `The index ${name} of ${collection} already exists, or is being built.`
    : `The command would build the index ${name} of ${collection}, over ${count(records)} records: ${JSON.stringify(key)}.`;
  return { text, json: { indexes: [name], key, isMade: false, isServed: false } };
}

/** Builds the index. Waits for an index that is already being built. */
async function made(context: CommandContext, task: Task, proposal: IndexProposal): Promise<Outcome> {
  const { name, collection, key, records } = proposal;
  const changeContext = changeContextOf(context, await context.connected());
  const stop = context.terminal.interruptible();
  const progress = context.progress(records, 'records');
  const watching = {
    stop,
    onProgress: (share: number) => progress.at(Math.round(share * records), Math.round(share * records)),
  };
  const isMade = await makeFilterIndex(changeContext, task, proposal, watching)
    .then((isDone) => {
      if (isDone) watching.onProgress(1);
      return isDone;
    })
    .finally(() => progress.end());
  const plan = isMade ? await filterPlan(changeContext.db, task, task.filter) : undefined;
  const isServed = plan?.readsEveryRecord === false;
  const json = { indexes: [name], key, isMade: isMade && !proposal.exists, isServed };
  if (!isMade)
    return { text: `The index ${name} of ${collection} is being built.`, json, failure: leftLine(proposal) };
  return { text: `The index ${name} of ${collection} exists, ${useOf(plan)}.`, json };
}

/** Whether an index that was built serves the filter, for the end of a sentence. */
function useOf(plan: FilterPlan | undefined): string {
  if (plan === undefined) return 'but MongoDB did not answer in time whether it serves the filter';
  return plan.readsEveryRecord
    ? 'but MongoDB does not use it, since it expects no gain'
    : 'and serves the filter';
}

function leftLine({ name, collection }: IndexProposal): string {
  return (
    'Interrupted: the database continues the build. Run the command again to follow it, ' +
    `or stop it with db.${collection}.dropIndex("${name}").`
  );
}
