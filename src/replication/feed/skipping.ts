import { lastOf, type Source } from './reading.js';
import type { Present } from './present.js';
import type { Window } from './window.js';

/**
 * The window of a page whose place was not known when it was linked to: it begins behind so many items. Nothing where
 * there are not so many. They count as of the moment that was shown then only: as of another there may be fewer, and
 * counting would pass over others. Then the page begins where the counting would, and some items arrive twice.
 */
export async function behindItems(
  source: Source,
  { behind, ...window }: Window,
  present: Present,
): Promise<Window | undefined> {
  const isSameMoment = () => behind?.at.equals(present.at) === true;
  if (behind === undefined || !isSameMoment()) return window;
  const { limit } = window;
  const counting: Source = {
    ...source,
    passed: (place) => source.passed({ ...place, limit: place.limit + limit }),
  };
  const lastoffsetid = await lastOf(counting, { ...window, limit: behind.items });
  if (!isSameMoment()) return window;
  return lastoffsetid && { ...window, lastoffsetid };
}
