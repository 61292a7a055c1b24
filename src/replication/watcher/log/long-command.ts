import type { mongo } from 'mongoose';
import { DeadlineError, settledWithin } from '../../../platform/common/index.js';
import { APP_NAME, ASKED_FOR, bareCommand } from '../../../platform/database/index.js';
import type { TermAtWork } from '../../store/index.js';

const LOOK_MS = 5000;
/** Extra time for a reply that arrives while the list of running operations is read (milliseconds). */
const ARRIVAL_MS = 1000;

/** The sender of commands for a term, and the signal that ends the wait for their replies. */
export interface Sender {
  client: mongo.MongoClient;
  term: TermAtWork;
  stop: AbortSignal;
}

/** A command, and the condition that finds it in the server's list of running operations. */
interface LongCommand extends Sender {
  shownAs: mongo.Document;
}

/** Matches a command by its comment, and later commands on the cursor that it opened. */
export function withComment(comment: string): mongo.Document {
  return { $or: [{ 'command.comment': comment }, { 'cursor.originatingCommand.comment': comment }] };
}

/** Matches the builds of the indexes that the service needs. */
export const INDEX_BUILDS: mongo.Document = {
  appName: APP_NAME,
  'command.createIndexes': { $exists: true },
  'command.comment': { $ne: ASKED_FOR },
};

/**
 * Waits for the reply to a command while the server works on it, and reports life meanwhile: reading through a long log
 * takes minutes. If the server no longer works on the command, the reply counts as lost: the command is aborted, and a
 * DeadlineError is thrown. Returns undefined if `stop` is aborted first.
 */
export async function asLongAsWorkedOn<T>(
  { client, term, stop, shownAs }: LongCommand,
  send: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  const left = new AbortController();
  const leave = () => left.abort();
  stop.addEventListener('abort', leave, { once: true });
  const reply = send(left.signal);
  const settled = reply.then(
    () => true,
    () => true,
  );
  try {
    while (!(await settledWithin(settled, LOOK_MS))) {
      if (await isWorkedOn(client, shownAs)) term.showLife();
      else if (!(await settledWithin(settled, ARRIVAL_MS)))
        throw new DeadlineError('A command that the server is not processing', LOOK_MS);
    }
    return await reply;
  } catch (error) {
    if (stop.aborted) return undefined;
    throw error;
  } finally {
    stop.removeEventListener('abort', leave);
    leave();
  }
}

async function isWorkedOn(client: mongo.MongoClient, shownAs: mongo.Document): Promise<boolean> {
  const query = { currentOp: 1, $ownOps: true, active: true, ...shownAs };
  return bareCommand(client.db('admin'), query, { within: LOOK_MS, readPreference: 'primary' }).then(
    ({ inprog }) => (inprog as unknown[]).length > 0,
    () => false,
  );
}
