import type { Group, Preview } from '../administration/index.js';
import { count } from '../common/index.js';
import type { Kind } from '../record/index.js';

/** What a preview says to people. */
export function previewLines(preview: Preview, kind: Kind): string[] {
  const { matching, others, records, entering, leaving, restamps, error } = preview;
  const about = error === undefined ? '' : `about, each to ${count(error)} `;
  return [
    `${about}${count(matching.count)} of ${count(records)} ${kind}s match.`,
    ...firstOf('match', matching),
    ...firstOf('do not match', others),
    ...(entering === undefined || leaving === undefined
      ? []
      : [
          `${count(entering.count)} would enter and ${count(leaving.count)} would leave: ${count(restamps)} will be delivered again.`,
          ...firstOf('would enter', entering),
          ...firstOf('would leave', leaving),
        ]),
  ];
}

function firstOf(what: string, { ids }: Group): string[] {
  return ids.length === 0 ? [] : [`The first that ${what}: ${ids.join(', ')}`];
}
