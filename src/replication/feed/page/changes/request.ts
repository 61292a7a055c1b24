import type { Ended, Within } from './cursor.js';

/** How a page of `changes` is to be given. */
export interface AskedForm {
  limit: number;
  /** The whole rest of the window, one item a line, whatever the limit. */
  asLines: boolean;
}

/** The page of `changes` that a request asks for. */
export interface ChangesRequest extends AskedForm {
  /** The window, or where the one before has ended. */
  from: Date | undefined;
  /** Nothing for the clock of the database. */
  to: Date | undefined;
  withDeletes: boolean;
  /** Nothing on the first page of a window. */
  place: Pick<Within, 'toIsClock' | 'section' | 'lastoffsetid'> | undefined;
}

/** The request for what comes behind a place. */
export function behindPlace(asked: AskedForm, place: Within | Ended): ChangesRequest {
  const { from } = place;
  if (!('section' in place)) return { ...asked, from, to: undefined, withDeletes: true, place: undefined };
  const { to, toIsClock, withDeletes, section, lastoffsetid } = place;
  return { ...asked, from, to, withDeletes, place: { toIsClock, section, lastoffsetid } };
}
