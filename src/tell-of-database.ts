import { settledWithin } from './common/index.js';
import type { Preparation } from './database/index.js';

/** One that works has answered long before; a slow one is given more time, unless it is known that it fails (milliseconds). */
const USUAL_MS = 1000;
const SLOW_MS = 3000;

/**
 * Says so where the database does not answer by now, and once it does. Answers after three seconds at most: the
 * service, whose port is open already, is not held up by it. Throws what ends the start.
 */
export async function tellOfDatabase(
  preparation: Pick<Preparation, 'answered' | 'done' | 'failure' | 'trouble' | 'hosts'>,
  say: (line: string) => void,
): Promise<void> {
  const { answered, done } = preparation;
  const isSettled = Promise.race([answered, done]).then(() => true);
  if (await settledWithin(isSettled, USUAL_MS)) return;
  if (preparation.failure === undefined && (await settledWithin(isSettled, SLOW_MS - USUAL_MS))) return;
  say(
    `The database at ${preparation.hosts} does not answer (MONGODB_URI): ${preparation.trouble}. ` +
      'Waiting for it; requests are answered 503 meanwhile.',
  );
  void answered.then(() => say('The database answers.'));
}
