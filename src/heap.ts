import { setFlagsFromString } from 'node:v8';

/**
 * Configures V8 for a service whose memory comes and goes as large buffers beside a small heap that hardly changes.
 *
 * V8 counts the buffers as part of the heap, which soon may grow by a few dozen megabytes only until all of it is gone
 * through. A harvest fills those many times a second. The cheap collections of young objects would free the buffers, but
 * each full one empties the young part, so that they come too late again: a service that gets there stays there, at twice
 * the CPU for a page. Where the heap may double between two full collections, it does not get there.
 */
export function setUpHeap(): void {
  setFlagsFromString('--heap-growing-percent=100');
}
