import { capitalized, FatalError } from '../../../platform/common/index.js';
import { ConfigError, databaseIn, type Settings } from '../../../platform/config/plain.js';
import { isDatabaseAway, refusalAtStart, troubleOfCommand } from '../../../platform/database/plain.js';
import { checkAll, type CheckState, type CheckedPart } from '../../plain.js';
import type { CommandContext, Run } from '../command.js';
import type { check } from '../operation-descriptions.js';
import type { Tone } from '../layout.js';
import { described, type SaidLine } from '../table.js';

const TONES: Record<CheckState, Tone> = { ok: 'green', warning: 'yellow', failed: 'red' };

export const runCheck: Run<typeof check> = async (context) => {
  const checks = await findings(context);
  const failed = checks.filter(({ state }) => state === 'failed').map(({ check }) => check);
  return {
    text: described(checks.flatMap(linesOf)),
    json: { isOk: failed.length === 0, checks },
    failure: failed.length === 0 ? undefined : `Failed: ${failed.join(', ')}.`,
  };
};

/** What depends on something that failed is not looked at. */
async function findings(context: CommandContext): Promise<CheckedPart[]> {
  let settings: Settings;
  try {
    ({ settings } = context);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [{ check: 'settings', state: 'failed', text: error.message, details: [] }];
  }
  const { mongodbUri, dataDir } = settings;
  const text = `all can be read; the database is ${mongodbUri === undefined ? `the embedded one of ${dataDir}` : 'that of MONGODB_URI'}`;
  const read: CheckedPart = { check: 'settings', state: 'ok', text, details: [] };
  try {
    return [read, ...(await checkAll(await context.connected()))];
  } catch (error) {
    return [read, { check: 'database', state: 'failed', text: wordsOf(error, mongodbUri), details: [] }];
  }
}

/** Rethrows what is no fault of the database or of its address. */
function wordsOf(error: unknown, uri: string | undefined): string {
  const refusal = uri === undefined ? error : refusalAtStart(error, { uri, database: databaseIn(uri) });
  if (refusal instanceof FatalError) return refusal.message;
  if (isDatabaseAway(refusal)) return `it does not answer: ${troubleOfCommand(refusal as Error)}`;
  throw error;
}

function linesOf({ check, state, text, details }: CheckedPart): SaidLine[] {
  return [
    [capitalized(check), `${state}: ${text}`, TONES[state]],
    ...details.map((detail): SaidLine => ['', detail]),
  ];
}
