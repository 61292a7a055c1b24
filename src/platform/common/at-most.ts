const one = () => 1;

/**
 * The options of an LRU cache with at most this number of entries. With `max` instead, a cache reserves its memory
 * when it is created: the caches of a service took 9 MB and 60 ms of CPU at each start.
 */
export const atMost = (entries: number) => ({ maxSize: entries, sizeCalculation: one });
