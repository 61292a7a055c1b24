import { type Compared, type CopyDifference, repair, verify, type Verified } from '../harvest/index.js';
import { EXIT, type ExitCode } from './exit-codes.js';
import { counted } from './progress-text.js';
import type { TaskTools } from './task.js';

/** Says whether copy and service are equal, and where they are not. */
export async function verifyTask(tools: TaskTools): Promise<ExitCode> {
  const { signal } = tools;
  const verified = await verify(comparedBy(tools), { signal });
  tools.print(verdict(verified), told(verified));
  return isEqual(verified) ? EXIT.done : EXIT.different;
}

/** Mends what differs, and says whether anything is left. */
export async function repairTask(tools: TaskTools): Promise<ExitCode> {
  const { signal } = tools;
  const compared = comparedBy(tools);
  const verified = await verify(compared, { signal });
  if (isEqual(verified)) {
    tools.print(verdict(verified), { mended: [], ...told(verified) });
    return EXIT.done;
  }
  const { mended, left } = await repair(compared, verified, { signal });
  const text = `${mended.map(line).join('\n')}\n${counted(mended.length)} were wrong. ${verdict(left)}`;
  tools.print(text, { mended, ...told(left) });
  return isEqual(left) ? EXIT.done : EXIT.different;
}

function comparedBy({ source, store, harvester }: TaskTools): Compared {
  return { source, store, harvester };
}

/** For machines. */
function told(verified: Verified): object {
  const { differences, count, to } = verified;
  return { isEqual: isEqual(verified), differences, count, to };
}

function isEqual({ differences }: Verified): boolean {
  return differences.length === 0;
}

function verdict({ differences, count, to }: Verified): string {
  if (differences.length === 0)
    return `The copy is equal to the service: ${counted(count)} records up to ${to}.`;
  return `${differences.map(line).join('\n')}\nThe copy differs in ${counted(differences.length)} of ${counted(count)} records up to ${to}.`;
}

function line({ id, held, told }: CopyDifference): string {
  if (held === undefined) return `${id}: missing in the copy, ${told} in the service`;
  return told === undefined
    ? `${id}: ${held} in the copy, not in the service`
    : `${id}: ${held} in the copy, ${told} in the service`;
}
