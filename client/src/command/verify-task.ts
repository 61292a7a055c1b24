import { type CopyDifference, repair, verify, type Verified } from '../harvest/index.js';
import { EXIT, type ExitCode } from './exit-codes.js';
import { counted } from './progress-text.js';
import type { TaskTools } from './task.js';

/** Says whether copy and service are equal, and where they are not. */
export async function verifyTask(tools: TaskTools): Promise<ExitCode> {
  const verified = await verify(tools, tools);
  tools.print(verdict(verified), { isEqual: isEqual(verified), ...verified });
  return isEqual(verified) ? EXIT.done : EXIT.different;
}

/** Mends what differs, and says whether anything is left. */
export async function repairTask(tools: TaskTools): Promise<ExitCode> {
  const { differences, ...verified } = await verify(tools, tools);
  if (differences.length === 0) {
    const equal = { differences, ...verified };
    tools.print(verdict(equal), { isEqual: true, mended: [], ...equal });
    return EXIT.done;
  }
  const { mended, left } = await repair(tools, differences, tools);
  tools.print(`${mended.map(line).join('\n')}\n${counted(mended.length)} were wrong. ${verdict(left)}`, {
    ...{ isEqual: isEqual(left), mended, ...left },
  });
  return isEqual(left) ? EXIT.done : EXIT.different;
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
