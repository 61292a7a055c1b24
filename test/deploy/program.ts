import { spawnSync } from 'node:child_process';
import { programs } from '../../scripts/deploy-tools.mjs';

/** How a tool ends, and all that it says. */
export function run(
  name: keyof typeof programs,
  args: string[],
  input = '',
): { status: number | null; said: string } {
  const { status, stdout, stderr, error } = spawnSync(programs[name], args, { input, encoding: 'utf8' });
  if (error !== undefined) throw error;
  return { status, said: `${stdout}${stderr}`.trim() };
}

export const CONTENT = { status: 0, said: '' };
