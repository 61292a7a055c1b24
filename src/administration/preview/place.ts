import type { mongo } from 'mongoose';
import { COLLECTION_OF, type Kind, type Tenant } from '../../record/index.js';

/** The records that a filter is tried on: those of one kind of one application. */
export interface Place {
  records: mongo.Collection;
  kind: Kind;
  tenant: Tenant;
  /** All queries of one preview are in it, so that they can be ended together. */
  session: mongo.ClientSession;
}

/** Does something in a place; where that fails, or nobody waits for it any more, the server ends what is under way. */
export async function inPlace<T>(
  db: mongo.Db,
  { organizationid, appid, kind }: Tenant & { kind: Kind },
  signal: AbortSignal | undefined,
  work: (place: Place) => Promise<T>,
): Promise<T> {
  const session = db.client.startSession();
  const end = () => void endQueries(db, session);
  signal?.addEventListener('abort', end, { once: true });
  try {
    return await work({
      ...{ records: db.collection(COLLECTION_OF[kind]), kind, session },
      tenant: { organizationid, appid },
    });
  } catch (error) {
    end();
    throw error;
  } finally {
    signal?.removeEventListener('abort', end);
    await session.endSession();
  }
}

/** Where it cannot be done, each query has an end of its own. */
async function endQueries(db: mongo.Db, session: mongo.ClientSession): Promise<void> {
  const id = session.id?.id;
  if (id !== undefined)
    await db
      .admin()
      .command({ killSessions: [{ id }] })
      .catch(() => undefined);
}
