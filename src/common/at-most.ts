const one = () => 1;

/**
 * The options of an LRU cache that holds at most this number of entries. With `max` instead, the cache reserves its memory when it
 * is made: those of a service together took 9 MB and 60 ms of CPU at every start.
 */
export const atMost = (entries: number) => ({ maxSize: entries, sizeCalculation: one });
