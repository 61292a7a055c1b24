import { ConnectionError } from '../http/connection-error.js';
import type { Sender } from '../http/sender.js';
import type { CallOptions } from '../options.js';
import type { Page } from '../shapes.js';
import { Feed } from './feed.js';

/** Further ahead than any clock: the service reads such a `to` as its own on a first page. */
const THE_CLOCK = '9999-01-01T00:00:00.000Z';

/** The window of `updates`, `softdeletes` and `harddeletes` (contract §1). A text goes out as it is. */
export interface FeedWindow extends CallOptions {
  /** `lastupdated > from`. Without it from the beginning. */
  from?: Date | string | undefined;
  /** `lastupdated <= to`: the offset of `max`, or the `to` of a page of another feed. Without it the database's clock. */
  to?: Date | string | undefined;
  /** Goes on behind the page that told it as `nextoffsetid`; `to` is that page's then. */
  lastoffsetid?: string | undefined;
  /** Greatest number of items of a page. Without it what the service takes, 1000. */
  limit?: number | undefined;
}

/** One of the seed's three feeds. The `to` of the first page is sent with all further ones: all show one moment. */
export function seedFeed<Item>(sender: Sender, path: string[], window: FeedWindow): Feed<Item, Page<Item>> {
  return new Feed(() => pagesOf<Item>(sender, path, window));
}

async function* pagesOf<Item>(
  sender: Sender,
  path: string[],
  { signal, from, to: asked = THE_CLOCK, limit, lastoffsetid: behind }: FeedWindow,
): AsyncGenerator<Page<Item>, void> {
  let to = asked;
  let lastoffsetid = behind;
  do {
    const query = { from, to, lastoffsetid, limit };
    const { headers, body } = await sender.send<Omit<Page<Item>, 'to'>>({
      method: 'GET',
      path: ['api/v1', ...path],
      query,
      signal,
    });
    assertPage(body, path.at(-1)!);
    // Pages of another site may not see the header.
    to = headers.get('tidemark-to') ?? textOf(to);
    yield { ...body, to };
    lastoffsetid = body.nextoffsetid;
  } while (lastoffsetid !== '');
}

/** A proxy may answer instead of the service. Without this check, its answer would be read again and again as a first page. */
function assertPage(body: { result?: unknown; nextoffsetid?: unknown } | null, feed: string): void {
  if (Array.isArray(body?.result) && typeof body.nextoffsetid === 'string') return;
  throw new ConnectionError(`The answer is no page of ${feed}: it lacks result or nextoffsetid.`);
}

function textOf(date: Date | string): string {
  return date instanceof Date ? date.toISOString() : date;
}
