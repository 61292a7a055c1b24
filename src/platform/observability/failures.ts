/** Minimum interval between two log entries of the same cause (milliseconds). */
const LOGGED_AGAIN_MS = 5 * 60_000;
const MOST_CAUSES = 100;
const LONGEST_MESSAGE = 500;

/** Whether an error means only that the service is unavailable at the moment, for example without its database. */
export type IsOutage = (error: unknown) => boolean;

/** The logged part of an error. */
interface LoggedError {
  type: string;
  message: string;
  stack?: string;
  /** The code of the operating system or of MongoDB. */
  code?: string | number;
  codeName?: string;
  syscall?: string;
}

/**
 * The part of an error that is logged. Other properties are omitted: the driver's errors contain a description of
 * every server and MongoDB's replies. An outage is not a program fault, so its stack is omitted too.
 */
export function loggedError(error: Error, isOutage: boolean): LoggedError {
  const { code, codeName, syscall } = error as Partial<Record<'code' | 'codeName' | 'syscall', unknown>>;
  return {
    type: error.constructor.name === 'Error' ? error.name : error.constructor.name,
    message: shortened(failureText(error)),
    ...((typeof code === 'string' || typeof code === 'number') && { code }),
    ...(typeof codeName === 'string' && { codeName }),
    ...(typeof syscall === 'string' && { syscall }),
    ...(!isOutage && error.stack !== undefined && { stack: error.stack }),
  };
}

/**
 * Limits the log to one line in five minutes for each cause of an outage, regardless of the number of failed
 * requests.
 */
export class LoggedCauses {
  private readonly logged = new Map<string, { at: number; withheld: number }>();

  /**
   * The number of lines of this cause that were suppressed since the last written one; undefined if this one is
   * suppressed as well.
   */
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

/** The message, followed by the messages of its causes that it does not contain. */
function failureText({ message, cause }: Error): string {
  if (!(cause instanceof Error)) return message;
  const further = failureText(cause);
  return message.includes(further) ? message : `${message}: ${further}`;
}

function shortened(text: string): string {
  return text.length > LONGEST_MESSAGE ? `${text.slice(0, LONGEST_MESSAGE)}…` : text;
}
