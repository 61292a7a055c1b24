import type { mongo } from 'mongoose';
import {
  type Applied,
  applyConfiguration,
  assertPossible,
  compare,
  type Comparison,
  type Configuration,
  configurationFile,
  configurationJson,
  EVERYTHING,
  onLine,
  type PlannedChange,
  previewed,
  type Previews,
  previewsOf,
  type Reach,
  readConfigurationFile,
  storedConfiguration,
  withinApplication,
} from '../../plain.js';
import { UsageError } from '../../../platform/common/index.js';
import type { CommandContext, Run } from '../command.js';
import type { configApply, configExport, configPlan } from '../descriptions.js';
import { tenantOf, textIn } from '../input.js';
import { asIs, cutTo } from '../layout.js';
import { counted } from '../table.js';
import { sampleLines, savedLines } from '../preview-lines.js';
import { databaseOf, changeContextOf } from '../session.js';

/** The properties of a service that decide which fields and values it shows. */
const CHOOSING = ['fields', 'hash', 'allowHiddenFilter', 'schemaExamples'];
/** Longer lines are cut off: a property may have 200 paths. */
const LONGEST_LINE = 300;
const SIGNS = { create: '+', change: '~', remove: '-' } as const;
const DONE = { create: 'created', change: 'changed', remove: 'removed' } as const;

export const runExport: Run<typeof configExport> = async (context, options) => {
  const reach = reachOf(options);
  const db = databaseOf(await context.connected());
  const { configuration, leftOut } = await storedConfiguration(db, reach);
  return {
    text: asIs(configurationFile(configuration, leftOut)),
    json: { ...configurationJson(configuration), ...(leftOut.length > 0 && { leftOut }) },
  };
};

export const runPlan: Run<typeof configPlan> = async (context, { prune, ...named }, file) => {
  const options = { reach: reachOf(named), isPruned: prune };
  const db = databaseOf(await context.connected());
  const { comparison, previews } = await planOf(context, db, file, options);
  const { changes, untold, leftOut } = comparison;
  return {
    text: planLines(comparison, previews).join('\n'),
    json: {
      changes: changesJson(changes, previews),
      untold: untold.map(({ name }) => name),
      ...(leftOut.length > 0 && { leftOut }),
    },
  };
};

export const runApply: Run<typeof configApply> = async (context, { prune, yes, ...named }, file) => {
  if (file === '-' && !yes)
    throw new UsageError(
      'With -, the file comes from stdin, so the command cannot ask for confirmation. Give --yes.',
    );
  const compared = { reach: reachOf(named), isPruned: prune };
  const changeContext = changeContextOf(context, await context.prepared());
  const { configuration, comparison, previews, onLine } = await planOf(
    context,
    changeContext.db,
    file,
    compared,
  );
  const { changes, etag } = comparison;
  if (changes.length === 0) return { text: sumOf(changes), json: { changes: [], passwords: {} } };
  context.print(planLines(comparison, previews).join('\n'));
  if (!yes && !(await context.confirm('Apply these changes?')))
    return {
      text: 'Nothing is changed.',
      json: { changes: [], passwords: {} },
      failure: 'It was not confirmed.',
    };
  const applied = await applyConfiguration(changeContext, configuration, {
    ...compared,
    ifMatch: etag,
  }).catch((error: unknown) => {
    throw onLine(error);
  });
  return {
    text: appliedText(applied),
    json: { changes: changesJson(applied.changes, previews), passwords: applied.passwords },
  };
};

function appliedText({ changes, passwords }: Applied): string {
  const shown = Object.entries(passwords).map(([username, password]) => `  ${username}: ${password}`);
  return [
    `Done. ${sumOf(changes, true)}`,
    ...(shown.length === 0 ? [] : ['Passwords, shown only now:', ...shown]),
  ].join('\n');
}

/** The whole configuration, or the application of both options. Throws if only one is given or a name is not valid. */
function reachOf({ org, app }: { org: string | undefined; app: string | undefined }): Reach {
  if (org === undefined && app === undefined) return EVERYTHING;
  if (org === undefined || app === undefined)
    throw new UsageError('--org and --app name an application together: give both, or neither.');
  return withinApplication(EVERYTHING, tenantOf({ org, app }));
}

/** A file compared with the database. */
interface FilePlan {
  configuration: Configuration;
  comparison: Comparison;
  previews: Previews;
  /** Adds the line number to an error about a place in the file. */
  onLine: (error: unknown) => unknown;
}

/** Reads a file, compares it with what is stored, and previews each service whose filter or fields change. */
export async function planOf(
  context: CommandContext,
  db: mongo.Db,
  file: string,
  { reach, isPruned }: { reach: Reach; isPruned: boolean },
): Promise<FilePlan> {
  const { configuration, lineOf } = readConfigurationFile(await textIn(file, context.terminal.input));
  try {
    const comparison = await compare(db, configuration, { reach, isPruned });
    await assertPossible(db, comparison.changes, reach);
    const progress = context.progress(previewed(comparison.changes).length, 'services');
    const previews = await previewsOf(db, comparison.changes, {
      msLeft: () => context.settings.queryMs,
      onProgress: (done) => progress.at(done, done),
    }).finally(() => progress.end());
    return { configuration, comparison, previews, onLine: (error) => onLine(lineOf, error) };
  } catch (error) {
    throw onLine(lineOf, error);
  }
}

/** The changes as JSON. */
function changesJson(changes: PlannedChange[], previews?: Previews): object[] {
  return changes.map(({ action, name, thing, changed }) => ({
    ...{ action, what: thing.what, ...thing.key, changed, preview: previews?.get(name) },
  }));
}

/**
 * A plan, for people: one line for each thing that changes, followed for a service by its old and new fields and by the
 * preview; then the sum, and what is left unchanged.
 */
function planLines({ changes, untold, leftOut }: Comparison, previews: Previews): string[] {
  const isRemoving = changes.some(({ action, thing }) => action === 'remove' && thing.what === 'application');
  const fate = isRemoving ? 'removed only with its application' : 'left unchanged';
  return [
    ...changes.flatMap((change) => [
      lineOf(change),
      ...fieldsOf(change).map((line) => `    ${line}`),
      ...effectOf(change, previews),
    ]),
    sumOf(changes),
    ...(untold.length === 0
      ? []
      : [
          `Not in the file, and kept (--prune removes ${untold.length === 1 ? 'it' : 'them'}):`,
          ...untold.map(({ name }) => `  ${name}`),
        ]),
    ...leftOut.map((one) => `Not part of the configuration, so ${fate}: ${one}`),
  ];
}

/** A summary of the changes, planned or done. */
export function sumOf(changes: PlannedChange[], areDone = false): string {
  if (changes.length === 0) return 'Nothing changes.';
  const counts = (['create', 'change', 'remove'] as const)
    .map((action) => [action, changes.filter((one) => one.action === action).length] as const)
    .filter(([, count]) => count > 0)
    .map(([action, count]) => `${count} ${areDone ? DONE[action] : `to ${action}`}`);
  return `${counted(changes.length, 'change')}: ${counts.join(', ')}.`;
}

function lineOf({ action, name, changed }: PlannedChange): string {
  return `${SIGNS[action]} ${name}${action === 'change' ? `: ${changed.join(', ')}` : ''}`;
}

/** One line for each changed property of `CHOOSING`, with its old and its new value. */
function fieldsOf({ action, thing, before, changed }: PlannedChange): string[] {
  if (action === 'remove' || thing.what !== 'service') return [];
  const shown = (value: unknown) => (value === undefined ? 'none' : JSON.stringify(value));
  return CHOOSING.filter((name) => changed.includes(name)).map((name) =>
    cutTo(LONGEST_LINE, `${name}: ${shown(before?.[name])} -> ${shown(thing.fields[name])}`),
  );
}

/** The preview of a service's new filter or fields, if one was made. */
function effectOf({ action, name, thing }: PlannedChange, previews: Previews): string[] {
  const preview = previews.get(name);
  if (action === 'remove' || preview === undefined) return [];
  const lines = [...savedLines(preview, thing.fields['enabled'] !== false), ...sampleLines(preview)];
  return lines.map((line) => `    ${line}`);
}
