import { ConnectionError } from '../http/connection-error.js';
import type { Sender } from '../http/sender.js';
import type { CallOptions } from '../options.js';
import type { ChangeItem, ChangesPage } from '../shapes.js';
import { Feed } from './feed.js';

/** Where `changes` begin (contract §1): at a cursor, which goes with nothing but `limit`, or with a window. */
export interface ChangesOptions extends CallOptions {
  /** The cursor of the last page that was applied. Without it, and without `from`, a first harvest. */
  cursor?: string | undefined;
  /** `lastupdated > from`. */
  from?: Date | string | undefined;
  /** `lastupdated <= to`. Without it the database's clock. */
  to?: Date | string | undefined;
  /** Greatest number of items of a page. Without it what the service takes, 1000. */
  limit?: number | undefined;
  /** `skip`: a first harvest without deletes, for an empty copy. */
  deletes?: 'skip' | undefined;
}

/** All that changed in one window. It ends with the window: begin again at the cursor of the last page for the next one. */
export function changesFeed(
  sender: Sender,
  path: string[],
  options: ChangesOptions,
): Feed<ChangeItem, ChangesPage> {
  return new Feed(() => pagesOf(sender, path, options));
}

async function* pagesOf(
  sender: Sender,
  path: string[],
  { signal, cursor, from, to, limit, deletes }: ChangesOptions,
): AsyncGenerator<ChangesPage, void> {
  let query: Omit<ChangesOptions, 'signal'> = { cursor, from, to, limit, deletes };
  for (;;) {
    const { body } = await sender.send<ChangesPage>({
      method: 'GET',
      path: ['api/v1', ...path],
      query: { ...query },
      signal,
    });
    assertPage(body);
    yield body;
    if (body.next === undefined) return;
    query = { cursor: body.cursor, limit };
  }
}

/** Something in front of the service may answer in its place: a page that is none must move no cursor. */
function assertPage(body: Partial<ChangesPage> | null): void {
  if (Array.isArray(body?.result) && typeof body.cursor === 'string' && typeof body.to === 'string') return;
  throw new ConnectionError('The answer is no page of changes: it lacks result, to or cursor.');
}
