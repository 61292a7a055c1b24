import type { Window } from '../query/index.js';
import { lastOf, type PageSource } from './reading.js';
import type { ShownMoment } from './shown-moment.js';

/**
 * The window of a page whose place was not known when it was linked to: it begins behind so many items. Nothing where
 * there are not so many. They count as of the moment that was shown then only: as of another there may be fewer, and
 * counting would pass over others. Then the page begins where the counting would, and some items arrive twice.
 */
export async function behindItems(
  source: PageSource,
  { behind, ...window }: Window,
  present: ShownMoment,
): Promise<Window | undefined> {
  const isSameMoment = () => behind?.at.equals(present.at) === true;
  if (behind === undefined || !isSameMoment()) return window;
  const { limit } = window;
  const counting: PageSource = {
    ...source,
    passed: (place) => source.passed({ ...place, limit: place.limit + limit }),
  };
  const lastoffsetid = await lastOf(counting, { ...window, limit: behind.items });
  if (!isSameMoment()) return window;
  return lastoffsetid && { ...window, lastoffsetid };
}
