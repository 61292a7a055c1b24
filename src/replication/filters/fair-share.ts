/** For an application so many milliseconds may go to stamping at once. */
const CREDIT_MS = 2000;
/** Of all time, what one application may use beyond that. */
const SHARE = 0.1;
/** What one application waits at most, whatever it has used (milliseconds). */
const LONGEST_WAIT_MS = 30_000;
const MOST_DEBT_MS = LONGEST_WAIT_MS * SHARE;
const UNTIL_FULL_MS = (CREDIT_MS + MOST_DEBT_MS) / SHARE;

interface Account {
  /** Milliseconds of stamping; below 0 the application waits. */
  left: number;
  /** What a service took lately. */
  each: number;
  at: number;
}

/**
 * How much of the watcher's time each application has for stamping anew what its edited filters judge differently: all others
 * wait meanwhile. Whoever has used up what it may have at once gets a tenth of the time.
 */
export class FairShare {
  /** Of those that used some; who used some last is last. */
  private readonly accounts = new Map<string, Account>();

  /** Whether the turn of an application has come, of which so many services are taken already. */
  mayTake(application: string, taken: number, now = performance.now()): boolean {
    const each = this.accounts.get(application)?.each ?? 0;
    return this.left(application, now) > taken * each;
  }

  /** Notes how many milliseconds one service of an application took. */
  use(application: string, ms: number, now = performance.now()): void {
    if (ms === 0 && !this.accounts.has(application)) return;
    const left = Math.max(this.left(application, now) - ms, -MOST_DEBT_MS);
    const each = Math.max(ms, (this.accounts.get(application)?.each ?? 0) / 2);
    this.accounts.delete(application);
    this.accounts.set(application, { left, each, at: now });
    for (const [name, { at }] of this.accounts) {
      if (now - at < UNTIL_FULL_MS) break;
      this.accounts.delete(name);
    }
  }

  private left(application: string, now: number): number {
    const account = this.accounts.get(application);
    return account === undefined ? CREDIT_MS : Math.min(CREDIT_MS, account.left + (now - account.at) * SHARE);
  }
}
