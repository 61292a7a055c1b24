import type { TestApplication } from '../support/index.js';
import { onceServed } from '../support/patience.js';

/** An item of `changes`. */
export interface ChangeItem {
  op: 'upsert' | 'delete';
  id: string;
  lastupdated: string;
  reason?: 'left' | 'gone';
}

export interface AnsweredChanges {
  result: ChangeItem[];
  to: string;
  nextoffsetid: string;
  next?: string;
  cursor: string;
}

export interface ChangesWindow {
  from?: Date | string;
  to?: Date | string;
  limit?: number;
  lastoffsetid?: string;
  cursor?: string;
  deletes?: 'skip';
}

/** One page of `changes`, and its header. Waits while the answer is 503. */
export async function changesOf(
  app: TestApplication,
  feed: string,
  window: ChangesWindow = {},
): Promise<AnsweredChanges & { tidemarkTo: string | null }> {
  const text = (value: Date | string | number) =>
    value instanceof Date ? value.toISOString() : String(value);
  const query = Object.fromEntries(
    Object.entries(window).map(([name, value]) => [name, text(value as Date | string | number)]),
  );
  const answer = await onceServed(() => app.get(`${feed}/changes`, { query }));
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  return { ...(answer.json as AnsweredChanges), tidemarkTo: answer.headers.get('tidemark-to') };
}

/** All items of a window, by its `nextoffsetid`s. */
export async function drained(
  app: TestApplication,
  feed: string,
  window: ChangesWindow = {},
): Promise<ChangeItem[]> {
  let page = await changesOf(app, feed, window);
  const changes = [...page.result];
  while (page.nextoffsetid !== '') {
    page = await changesOf(app, feed, { ...window, lastoffsetid: page.nextoffsetid });
    changes.push(...page.result);
  }
  return changes;
}
