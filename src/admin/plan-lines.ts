import type { PlannedChange, Comparison, Previews } from '../administration/index.js';
import { savedLines } from './preview-lines.js';
import { counted } from './print.js';

const SIGNS = { create: '+', change: '~', remove: '-' } as const;

/** What a configuration would change, for people: a line for each thing, and what its new filter does. */
export function planLines({ changes, untold, leftOut }: Comparison, previews: Previews): string[] {
  return [
    ...changes.flatMap((change) => [lineOf(change), ...effectOf(change, previews)]),
    sumOf(changes),
    ...(untold.length === 0
      ? []
      : [
          `${counted(untold.length, 'thing')} not in the file ${untold.length === 1 ? 'stays' : 'stay'}; with --prune they are removed:`,
          ...untold.map(({ name }) => `  ${name}`),
        ]),
    ...leftOut.map((one) => `Left alone, since it opens nothing: ${one}`),
  ];
}

/** How much would change. */
export function sumOf(changes: PlannedChange[]): string {
  if (changes.length === 0) return 'Nothing changes.';
  const counts = (['create', 'change', 'remove'] as const)
    .map((action) => [action, changes.filter((one) => one.action === action).length] as const)
    .filter(([, count]) => count > 0)
    .map(([action, count]) => `${count} to ${action}`);
  return `${counted(changes.length, 'change')}: ${counts.join(', ')}.`;
}

function lineOf({ action, name, changed }: PlannedChange): string {
  return `${SIGNS[action]} ${name}${action === 'change' ? `: ${changed.join(', ')}` : ''}`;
}

/** What a new filter does, where that was looked at. */
function effectOf({ action, name, thing }: PlannedChange, previews: Previews): string[] {
  const preview = previews.get(name);
  if (action === 'remove' || preview === undefined) return [];
  return savedLines(preview, thing.fields['enabled'] !== false).map((line) => `    ${line}`);
}
