import type { Standing } from '../administration/index.js';

const STATES: Record<Standing['state'], (since: string) => string> = {
  alive: (since) => `is alive, changed last at ${since}. Windows that hold this stamp deliver it`,
  gone: (since) => `is gone since ${since}. harddeletes tells of it in windows that hold this stamp`,
  'not yet known': () => 'is stored, but not in the feeds: the watcher has not come to it, or leaves it out',
  unknown: () => 'is not known: there never was one, or its hard delete is kept no longer',
};

/** How it stands with an `id`, in a sentence or two. */
export function standingLine({ kind, id, state, lastupdated }: Standing): string {
  return `The ${kind} "${id}" ${STATES[state](lastupdated?.toISOString() ?? 'an unknown time')}.`;
}
