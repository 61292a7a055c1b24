import type { mongo } from 'mongoose';
import { pause } from '../../platform/common/index.js';
import { isTimeout } from '../../platform/database/plain.js';
import type { Kind } from '../../kinds/index.js';
import { recordsIn, type Tenant } from '../../record/index.js';

/** Interval of repeated `killSessions`, in ms. If the caller aborts between two queries, a repetition kills the next one. */
const END_AGAIN_MS = 100;

/** The records that a filter is tried on: those of one kind in one application. */
export interface Place {
  records: mongo.Collection;
  kind: Kind;
  tenant: Tenant;
  /** All queries of one preview run in this session, so that they can be killed together. */
  session: mongo.ClientSession;
  /** Kills the running queries on the server, and those that start later. */
  end: () => void;
}

/**
 * Awaits concurrent tasks. If one fails, ends the others and waits for them before rethrowing the error: an abandoned query
 * would keep running in the database.
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

/** Runs work in a place. If the work fails or the caller aborts, its queries are killed on the server. */
export async function withPlace<T>(
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
      ...{ records: recordsIn(db, kind), kind, session, end },
      tenant: { organizationid, appid },
    });
  } catch (error) {
    end();
    throw error;
  } finally {
    signal?.removeEventListener('abort', end);
    settled.abort();
    // The driver reuses the session for other callers afterwards.
    await ending;
    await session.endSession();
  }
}

/** If killing fails, each query still ends at its own time limit. */
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

/** A time limit for several queries together, in ms: each query may use what the earlier ones left. */
export class Allowance {
  private readonly ends: number;

  constructor(ms: number) {
    this.ends = performance.now() + ms;
  }

  /** Runs a query with the remaining time as its limit; undefined if the time runs out. */
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
