import { type Applied, applyConfiguration } from '../../administration/plain.js';
import { FatalError } from '../../common/index.js';
import type { Run } from '../command.js';
import { changesJson, planOf, reachOf } from '../configuration-plan.js';
import { isConfirmed } from '../confirm.js';
import type { configApply } from '../descriptions/configuration.js';
import { planLines, sumOf } from '../plan-lines.js';
import { deskOn } from '../session.js';

export const run: Run<typeof configApply> = async (context, { prune, yes, ...named }, file) => {
  if (file === '-' && !yes)
    throw new FatalError(
      'With -, the file comes from stdin, so the command cannot ask for confirmation. Give --yes.',
    );
  const compared = { reach: reachOf(named), isPruned: prune };
  const desk = deskOn(context, await context.prepared());
  const { configuration, comparison, previews, onLine } = await planOf(context, desk.db, file, compared);
  const { changes, etag } = comparison;
  if (changes.length === 0) return { text: sumOf(changes), json: { changes: [], passwords: {} } };
  context.tell(planLines(comparison, previews).join('\n'));
  if (!yes && !(await isConfirmed(context.terminal, 'Change it?')))
    return {
      text: 'Nothing is changed.',
      json: { changes: [], passwords: {} },
      failure: 'It was not confirmed.',
    };
  const applied = await applyConfiguration(desk, configuration, { ...compared, ifMatch: etag }).catch(
    (error: unknown) => {
      throw onLine(error);
    },
  );
  return {
    text: textOf(applied),
    json: { changes: changesJson(applied.changes, previews), passwords: applied.passwords },
  };
};

function textOf({ changes, passwords }: Applied): string {
  const shown = Object.entries(passwords).map(([username, password]) => `  ${username}: ${password}`);
  return [
    `Done: ${sumOf(changes)}`,
    ...(shown.length === 0 ? [] : ['Passwords, shown only now:', ...shown]),
  ].join('\n');
}
