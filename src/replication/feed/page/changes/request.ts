import type { Ended, Within } from './cursor.js';

/** The page of `changes` that a request asks for. */
export interface ChangesRequest {
  path: string;
  limit: number;
  /** The window, or where the one before has ended. */
  from: Date | undefined;
  /** Nothing for the clock of the database. */
  to: Date | undefined;
  withDeletes: boolean;
  /** Nothing on the first page of a window. */
  place: Pick<Within, 'section' | 'lastoffsetid'> | undefined;
}

/** The request for what comes behind a place. */
export function behindPlace(path: string, limit: number, place: Within | Ended): ChangesRequest {
  const { from } = place;
  if (!('section' in place)) return { path, limit, from, to: undefined, withDeletes: true, place: undefined };
  const { to, withDeletes, section, lastoffsetid } = place;
  return { path, limit, from, to, withDeletes, place: { section, lastoffsetid } };
}
