/** How often the same cause is logged (milliseconds). */
const LOGGED_AGAIN_MS = 5 * 60_000;
const MOST_CAUSES = 100;
const LONGEST_MESSAGE = 500;

/** Whether an error says no more than that the service cannot answer now, as without its database. */
export type IsOutage = (error: unknown) => boolean;

/** What the log says of an error. */
interface LoggedError {
  type: string;
  message: string;
  stack?: string;
  /** Of the operating system, or of MongoDB. */
  code?: string | number;
  codeName?: string;
  syscall?: string;
}

/**
 * The part of an error that is logged: not all of its properties, since the driver's errors hold a description of every
 * server and the replies of MongoDB. An outage is not a fault of the program, so its stack is left out.
 */
export function loggedError(error: Error, isOutage: boolean): LoggedError {
  const { code, codeName, syscall } = error as Partial<Record<'code' | 'codeName' | 'syscall', unknown>>;
  return {
    type: error.constructor.name === 'Error' ? error.name : error.constructor.name,
    message: shortened(messageOf(error)),
    ...((typeof code === 'string' || typeof code === 'number') && { code }),
    ...(typeof codeName === 'string' && { codeName }),
    ...(typeof syscall === 'string' && { syscall }),
    ...(!isOutage && error.stack !== undefined && { stack: error.stack }),
  };
}

/** Of each cause of an outage one line is logged in five minutes, however many requests fail of it. */
export class LoggedCauses {
  private readonly logged = new Map<string, { at: number; withheld: number }>();

  /** How many lines of this cause were withheld since its last one; undefined where this one is withheld as well. */
  next(cause: string): number | undefined {
    const key = cause.replace(/\d+/g, '0');
    const before = this.logged.get(key);
    const now = performance.now();
    if (before !== undefined && now - before.at < LOGGED_AGAIN_MS) {
      before.withheld += 1;
      return undefined;
    }
    this.logged.delete(key);
    this.logged.set(key, { at: now, withheld: 0 });
    const [oldest] = this.logged.keys();
    if (this.logged.size > MOST_CAUSES && oldest !== undefined) this.logged.delete(oldest);
    return before?.withheld ?? 0;
  }
}

/** The message with those of its causes that it does not repeat. */
function messageOf({ message, cause }: Error): string {
  if (!(cause instanceof Error)) return message;
  const further = messageOf(cause);
  return message.includes(further) ? message : `${message}: ${further}`;
}

function shortened(text: string): string {
  return text.length > LONGEST_MESSAGE ? `${text.slice(0, LONGEST_MESSAGE)}…` : text;
}
