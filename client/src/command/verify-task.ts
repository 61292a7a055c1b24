import {
  type Compared,
  type CopyDifference,
  repair,
  type UnfitRecord,
  verify,
  type Verified,
} from '../harvest/index.js';
import { EXIT, type ExitCode } from './exit-codes.js';
import { counted } from './progress-text.js';
import type { TaskTools } from './task.js';
import { visible } from './visible.js';

/** Says whether copy and service are equal, and where they are not. */
export async function verifyTask(tools: TaskTools): Promise<ExitCode> {
  const { signal } = tools;
  const verified = await verify(comparedBy(tools), { signal });
  tools.print(verdict(verified), told(verified));
  return exitCodeOf(verified);
}

/** Mends what differs, and says whether anything is left. */
export async function repairTask(tools: TaskTools): Promise<ExitCode> {
  const { signal } = tools;
  const compared = comparedBy(tools);
  const verified = await verify(compared, { signal });
  if (isEqual(verified) && verified.unfit.length === 0) {
    tools.print(verdict(verified), { mended: [], ...told(verified) });
    return EXIT.done;
  }
  const { mended, left } = await repair(compared, verified, { signal });
  const text = `${mended.map(line).join('\n')}\n${counted(mended.length)} were wrong. ${verdict(left)}`;
  tools.print(text, { mended, ...told(left) });
  return exitCodeOf(left);
}

function exitCodeOf(verified: Verified): ExitCode {
  if (!isEqual(verified)) return EXIT.different;
  return verified.unfit.length === 0 ? EXIT.done : EXIT.unfit;
}

function comparedBy({ source, store, harvester }: TaskTools): Compared {
  return { source, store, harvester };
}

/** For machines. */
function told(verified: Verified): object {
  const { differences, count, to, unfit } = verified;
  return { isEqual: isEqual(verified), differences, ...(unfit.length > 0 && { unfit }), count, to };
}

function isEqual({ differences }: Verified): boolean {
  return differences.length === 0;
}

function verdict({ differences, count, to, unfit }: Verified): string {
  if (differences.length > 0)
    return `${differences.map(line).join('\n')}\nThe copy differs in ${counted(differences.length)} of ${counted(count)} records up to ${to}.${unfitLines(unfit)}`;
  const but = unfit.length === 0 ? '' : ', but for what it cannot hold';
  return `The copy is equal to the service${but}: ${counted(count)} records up to ${to}.${unfitLines(unfit)}`;
}

/** Lines to append for the records that the copy cannot hold or remove, each with its reason; empty if there are none. */
export function unfitLines(unfit: UnfitRecord[]): string {
  const lines = unfit.map(({ id, lastupdated, reason, isRemoval }) => {
    const not = isRemoval === true ? 'not removed: ' : '';
    return `${visible(id)}: ${lastupdated}, ${not}${visible(reason)}`;
  });
  if (lines.length === 0) return '';
  const verb = unfit.every(({ isRemoval }) => isRemoval === true) ? 'remove' : 'hold';
  return `\nThe copy cannot ${verb} ${counted(unfit.length)} of them:\n${lines.join('\n')}`;
}

function line({ id, held, told }: CopyDifference): string {
  const shown = visible(id);
  if (held === undefined) return `${shown}: missing in the copy, ${told} in the service`;
  return told === undefined
    ? `${shown}: ${held} in the copy, not in the service`
    : `${shown}: ${held} in the copy, ${told} in the service`;
}
