import mongoose, { type mongo } from 'mongoose';
import { DeadlineError, pause } from '../common/index.js';

const NEVER = new AbortController().signal;

/** How a bare command is sent, and for how long its answer is waited for (milliseconds). */
export interface BareOptions extends mongo.RunCommandOptions {
  within: number;
}

/** Sends a command as it is. What is not answered in time ends with a DeadlineError, and its connection with it. */
export async function bareCommand(
  db: mongo.Db,
  command: mongo.Document,
  { within, ...options }: BareOptions,
): Promise<mongo.Document> {
  const late = new AbortController();
  const what = `The command ${Object.keys(command)[0]}`;
  const timer = setTimeout(() => late.abort(new DeadlineError(what, within)), within);
  try {
    return await db.command(command, { ...options, signal: late.signal });
  } finally {
    clearTimeout(timer);
  }
}

/** Pauses before a command without `operationTime` in its reply is sent again (milliseconds). */
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 500;

/** Milliseconds until no further command is sent, and a signal that ends the wait early. */
export interface PlacedOptions {
  within: number;
  stop?: AbortSignal;
}

/** A reply, and the cluster time at which the server answered. */
export interface PlacedReply {
  reply: mongo.Document;
  at: mongo.Timestamp;
}

/**
 * Sends a command again until its reply has an `operationTime`, which a server leaves out for some seconds after a restart.
 * The command must do no harm when it is repeated. Throws a DeadlineError where no reply has one in time.
 */
export async function placedReply(
  what: string,
  send: () => Promise<mongo.Document>,
  { within, stop = NEVER }: PlacedOptions,
): Promise<PlacedReply> {
  const end = performance.now() + within;
  for (
    let ms = FIRST_PAUSE_MS;
    performance.now() < end && !stop.aborted;
    ms = Math.min(2 * ms, LONGEST_PAUSE_MS)
  ) {
    const reply = await send();
    const at: unknown = reply['operationTime'];
    if (at instanceof mongoose.mongo.Timestamp) return { reply, at };
    await pause(ms, stop);
  }
  throw new DeadlineError(`The place in the log of ${what}`, within);
}
