import type { mongo } from 'mongoose';
import { DeadlineError } from '../common/index.js';

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
