import type { Window } from '../query/index.js';
import type { PageReader, PageReading } from './page-reader.js';

/**
 * The window of a page whose place was not known when it was linked to: it begins behind so many items. Nothing where
 * there are not so many. They count as of the moment that was shown then only: as of another there may be fewer, and
 * counting would pass over others. Then the page begins where the counting would, and some items arrive twice.
 */
export async function behindItems(
  reader: PageReader,
  reading: PageReading,
  { behind, ...window }: Window,
): Promise<Window | undefined> {
  const isSameMoment = () => behind?.at.equals(reading.view.at) === true;
  if (behind === undefined || !isSameMoment()) return window;
  const lastoffsetid = await reader.last(reading, { ...window, limit: behind.items }, window.limit);
  if (!isSameMoment()) return window;
  return lastoffsetid && { ...window, lastoffsetid };
}
