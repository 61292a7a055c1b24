import type { mongo } from 'mongoose';
import {
  assertPossible,
  type PlannedChange,
  compare,
  type Comparison,
  type Configuration,
  EVERYTHING,
  onLine,
  type Previews,
  previewsOf,
  type Reach,
  readConfigurationFile,
  withinApplication,
} from '../administration/plain.js';
import { FatalError } from '../common/index.js';
import type { CommandContext } from './command.js';
import { textOf } from './configuration-input.js';
import { tenantOf } from './option-values.js';

/** Everything, or what the options name. Throws where they name half of it. */
export function reachOf({ org, app }: { org: string | undefined; app: string | undefined }): Reach {
  if (org === undefined && app === undefined) return EVERYTHING;
  if (org === undefined || app === undefined)
    throw new FatalError('--org and --app name an application together: give both, or neither.');
  return withinApplication(EVERYTHING, tenantOf({ org, app }));
}

/** A file held against the database. */
export interface FilePlan {
  configuration: Configuration;
  comparison: Comparison;
  previews: Previews;
  /** The same error, with the line of the file that it is about. */
  onLine: (error: unknown) => unknown;
}

/** Reads a file, compares it with what is stored, and looks what each changed filter would do. */
export async function planOf(
  context: CommandContext,
  db: mongo.Db,
  file: string,
  { reach, isPruned }: { reach: Reach; isPruned: boolean },
): Promise<FilePlan> {
  const { configuration, lineOf } = readConfigurationFile(await textOf(file, context.terminal.input));
  try {
    const comparison = await compare(db, configuration, { reach, isPruned });
    await assertPossible(db, comparison.changes, reach);
    const progress = context.progress(filtersOf(comparison.changes), 'filters');
    const previews = await previewsOf(db, comparison.changes, {
      msLeft: () => context.settings.queryMs,
      onProgress: (done) => progress.at(done, done),
    }).finally(() => progress.end());
    return { configuration, comparison, previews, onLine: (error) => onLine(lineOf, error) };
  } catch (error) {
    throw onLine(lineOf, error);
  }
}

function filtersOf(changes: PlannedChange[]): number {
  return changes.filter(({ thing, changed }) => thing.what === 'service' && changed.includes('filter'))
    .length;
}

/** Changes for machines. */
export function changesJson(changes: PlannedChange[], previews?: Previews): object[] {
  return changes.map(({ action, name, thing, changed }) => ({
    ...{ action, what: thing.what, ...thing.key, changed, preview: previews?.get(name) },
  }));
}
