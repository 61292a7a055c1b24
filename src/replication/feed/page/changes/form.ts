import type { mongo } from 'mongoose';
import { later } from '../../../../common/index.js';
import { idOf, type PageForm } from '../page.js';
import { cursorOf, type Section } from './cursor.js';

/** The window of a page of `changes`, its `to` settled, and where its answer leads. */
export interface ShownWindow {
  /** The name of the feed, for its cursors. */
  feed: string;
  path: string;
  from: Date | undefined;
  to: Date;
  limit: number;
  withDeletes: boolean;
  /** What each reading of the page is about. */
  sections: Section[];
}

/** The envelope of `changes`: `next` and a `nextoffsetid` where the page may go on, and always a `cursor`. */
export function formOf(window: ShownWindow): PageForm {
  const { feed, path, from, to, limit, withDeletes, sections } = window;
  const within = (section: Section, lastoffsetid: mongo.ObjectId) =>
    cursorOf(feed, { from, to, section, lastoffsetid, withDeletes });
  return {
    headers: () => Promise.resolve({}),
    tail: (end, isFull) => {
      const nextoffsetid = isFull && end ? within(sections[end.reading]!, idOf(end.last)) : '';
      const cursor = nextoffsetid || cursorOf(feed, { from: from === undefined ? to : later(from, to) });
      const next = nextoffsetid && `${path}?cursor=${nextoffsetid}&limit=${limit}`;
      const told = { to: to.toISOString(), nextoffsetid, ...(next && { next }), cursor };
      return `],${JSON.stringify(told).slice(1)}\n`;
    },
  };
}
