import type { mongo } from 'mongoose';
import { DeadlineError, settledWithin } from '../common/index.js';

const LOOK_MS = 500;
/** A build that the server does not list in this many checks has lost its answer. */
const MOST_LOOKS_IN_VAIN = 20;
/** By it the builds that operators ask for are told from those that the service needs. */
export const ASKED_FOR = 'tidemark: asked for';
/** A build over a large collection sends no byte for longer than a dead connection is waited for. */
export const UNTIL_BUILT: object = { socketTimeoutMS: 0 };

export interface Watching {
  stop: AbortSignal;
  /** Which share of the work is done, 0 to 1. Not told where the server does not let its operations be looked at. */
  onProgress: (share: number) => void;
}

/**
 * Makes an index that an operator asks for, while reads and writes go on; one that stands is there at once, one under way is
 * waited for. False where `stop` came first: the server then goes on with it.
 */
export async function buildIndex(
  collection: mongo.Collection,
  key: Record<string, 1>,
  { stop, onProgress }: Watching,
): Promise<boolean> {
  const options = { comment: ASKED_FOR, ...UNTIL_BUILT };
  const made = collection.createIndex(key, options).then(() => true);
  made.catch(() => undefined);
  for (let inVain = 0; ;) {
    if ((await settledWithin(made, LOOK_MS)) === true) return true;
    if (stop.aborted) return false;
    const builds = await buildsOf(collection).catch(() => undefined);
    inVain = builds?.length === 0 ? inVain + 1 : 0;
    if (inVain >= MOST_LOOKS_IN_VAIN)
      throw new DeadlineError('The making of an index of which the server knows nothing', inVain * LOOK_MS);
    const share = builds?.map(shareOf).find((one) => one !== undefined);
    if (share !== undefined) onProgress(share);
  }
}

interface Build {
  msg?: string;
  progress?: { done: number; total: number };
}

/** The builds of a collection that are under way, as the server's list of running operations shows them. */
function buildsOf({ db, namespace, collectionName }: mongo.Collection): Promise<Build[]> {
  const these = { ns: namespace, 'command.createIndexes': collectionName };
  return db.client
    .db('admin')
    .aggregate<Build>([{ $currentOp: {} }, { $match: these }], { readConcern: { level: 'local' } })
    .toArray();
}

/** First all documents are read, then all keys are written. */
function shareOf({ msg = '', progress }: Build): number | undefined {
  if (progress === undefined || progress.total <= 0) return undefined;
  const half = progress.done / progress.total / 2;
  return Math.min(1, msg.includes('scanning') ? half : 1 / 2 + half);
}
