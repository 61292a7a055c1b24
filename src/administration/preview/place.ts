import type { mongo } from 'mongoose';
import { pause } from '../../common/index.js';
import { isTimeout } from '../../database/plain.js';
import { COLLECTION_OF, type Kind, type Tenant } from '../../record/index.js';

/** The caller may give up between two queries: the next query is then aborted. */
const END_AGAIN_MS = 100;

/** The records that a filter is tried on: those of one kind of one application. */
export interface Place {
  records: mongo.Collection;
  kind: Kind;
  tenant: Tenant;
  /** All queries of one preview are in it, so that they can be ended together. */
  session: mongo.ClientSession;
  /** Ends what the server is doing for it, and what it begins from now on. */
  end: () => void;
}

/**
 * What tasks that go side by side give. Where one fails, the others are ended, and have ended before that is told: a query
 * that is left behind would go on in the database.
 */
export async function together<T extends readonly unknown[] | []>(
  { end }: Pick<Place, 'end'>,
  tasks: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  try {
    return await Promise.all(tasks);
  } catch (error) {
    end();
    await Promise.allSettled(tasks);
    throw error;
  }
}

/** Runs work in a place; if that fails, or the caller gives up, its queries are killed on the server. */
export async function inPlace<T>(
  db: mongo.Db,
  { organizationid, appid, kind }: Tenant & { kind: Kind },
  signal: AbortSignal | undefined,
  work: (place: Place) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const session = db.client.startSession();
  const settled = new AbortController();
  let ending: Promise<void> | undefined;
  const end = () => {
    ending ??= endQueries(db, session, settled.signal);
  };
  signal?.addEventListener('abort', end, { once: true });
  try {
    return await work({
      ...{ records: db.collection(COLLECTION_OF[kind]), kind, session, end },
      tenant: { organizationid, appid },
    });
  } catch (error) {
    end();
    throw error;
  } finally {
    signal?.removeEventListener('abort', end);
    settled.abort();
    // The driver gives the same session to others afterwards.
    await ending;
    await session.endSession();
  }
}

/** Where it cannot be done, each query has an end of its own. */
async function endQueries(db: mongo.Db, session: mongo.ClientSession, settled: AbortSignal): Promise<void> {
  const id = session.id?.id;
  while (id !== undefined) {
    await db
      .admin()
      .command({ killSessions: [{ id }] })
      .catch(() => undefined);
    await pause(END_AGAIN_MS, settled);
    if (settled.aborted) return;
  }
}

/** Milliseconds for several queries together: each gets what those before it have left. */
export class Allowance {
  private readonly ends: number;

  constructor(ms: number) {
    this.ends = performance.now() + ms;
  }

  /** What a query gives that the server ends when the time is over; undefined where that came first. */
  async ask<T>(
    query: (limit: { maxTimeMS: number }) => Promise<T>,
    atMost = Infinity,
  ): Promise<T | undefined> {
    const left = Math.min(atMost, Math.ceil(this.ends - performance.now()));
    if (left <= 0) return undefined;
    try {
      return await query({ maxTimeMS: left });
    } catch (error) {
      if (isTimeout(error)) return undefined;
      throw error;
    }
  }
}
