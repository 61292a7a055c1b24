/** The number of ids shown for each group. */
export const SHOWN_IDS = 10;

/** Records of a group: how many, and the ids of the first of them. */
export interface Group {
  /** Null where there was no time to find out. */
  count: number | null;
  ids: string[];
  /** The count is an estimate, right to this many records in 95 of 100 cases; absent where it is exact. */
  error?: number;
}

/** Who matches the filter; beside the filter in force, who would begin to match, and who would cease to. */
export const COUNTED = ['matching', 'entering', 'leaving'] as const;

export type Counted = (typeof COUNTED)[number];
