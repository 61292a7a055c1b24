import { defineCommand } from '../command.js';
import { changesJson, COMPARED, planOf, reachOf } from '../configuration-plan.js';
import { planLines } from '../plan-lines.js';
import { databaseOf } from '../session.js';

export const configPlan = defineCommand({
  name: 'config plan',
  summary: 'Tell what a configuration file would change, and what each changed filter would do',
  argument: 'FILE.yaml|-',
  options: COMPARED,
  notes: ['Nothing is changed. + is made, ~ is changed, - is removed.'],
  async run(context, { prune, ...named }, file) {
    const options = { reach: reachOf(named), isPruned: prune };
    const db = databaseOf(await context.connected());
    const { comparison, previews } = await planOf(context, db, file, options);
    const { changes, untold } = comparison;
    return {
      text: planLines(comparison, previews).join('\n'),
      json: { changes: changesJson(changes, previews), untold: untold.map(({ name }) => name) },
    };
  },
});
