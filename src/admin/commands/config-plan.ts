import type { Run } from '../command.js';
import { changesJson, planOf, reachOf } from '../configuration-plan.js';
import type { configPlan } from '../descriptions/configuration.js';
import { planLines } from '../plan-lines.js';
import { databaseOf } from '../session.js';

export const run: Run<typeof configPlan> = async (context, { prune, ...named }, file) => {
  const options = { reach: reachOf(named), isPruned: prune };
  const db = databaseOf(await context.connected());
  const { comparison, previews } = await planOf(context, db, file, options);
  const { changes, untold } = comparison;
  return {
    text: planLines(comparison, previews).join('\n'),
    json: { changes: changesJson(changes, previews), untold: untold.map(({ name }) => name) },
  };
};
