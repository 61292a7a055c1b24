import { later } from '../../../../common/index.js';
import { idOf, type ItemPlace } from '../page-items.js';
import type { PageForm } from '../page.js';
import { cursorOf, type Section } from './cursor.js';
import type { LinesForm } from './lines.js';

/** The window of a page of `changes`, its `to` settled, and where its answer leads. */
export interface ShownWindow {
  /** The name of the feed, for its cursors. */
  feed: string;
  from: Date | undefined;
  to: Date;
  /** Whether the clock has settled `to`. */
  toIsClock: boolean;
  limit: number;
  withDeletes: boolean;
  /** What each reading of the page is about. */
  sections: Section[];
}

/** The envelope of `changes`: `next` and a `nextoffsetid` where the page may go on, and always a `cursor`. */
export function formOf(window: ShownWindow): PageForm {
  const { to, limit } = window;
  return {
    headers: () => Promise.resolve({}),
    tail: (end, isFull) => {
      const nextoffsetid = isFull && end ? within(window, end) : '';
      const cursor = nextoffsetid || behindWindow(window);
      const next = nextoffsetid && `?cursor=${nextoffsetid}&limit=${limit}`;
      const told = { to: to.toISOString(), nextoffsetid, ...(next && { next }), cursor };
      return `],${JSON.stringify(told).slice(1)}\n`;
    },
  };
}

/** The lines of `changes` that tell no item: where to go on, and that the window has ended. */
export function linesFormOf(window: ShownWindow): LinesForm {
  const line = (told: object) => `${JSON.stringify(told)}\n`;
  return {
    cursor: (end) => line({ op: 'cursor', cursor: within(window, end) }),
    end: () => line({ op: 'end', to: window.to.toISOString(), cursor: behindWindow(window) }),
  };
}

function within(
  { feed, from, to, toIsClock, withDeletes, sections }: ShownWindow,
  { reading, last }: ItemPlace,
): string {
  const at = { section: sections[reading]!, lastoffsetid: idOf(last) };
  return cursorOf(feed, { from, to, toIsClock, ...at, withDeletes });
}

function behindWindow({ feed, from, to }: ShownWindow): string {
  return cursorOf(feed, { from: from === undefined ? to : later(from, to) });
}
