import { setTimeout as delay } from 'node:timers/promises';
import { FatalError } from '../platform/common/index.js';
import { reasonOf, type Say } from './run-program.js';

/** A run that lasts until it is stopped or ends unexpectedly. */
interface MongodRun {
  /** Resolves with the reason when the run ends. */
  ended: Promise<string>;
  stop(): Promise<unknown>;
}

const MOST_ENDS = 5;
const WITHIN_MS = 60_000;
/** Pause before another attempt after a failed start (milliseconds). */
const PAUSE_MS = 500;

/** Keeps a mongod running. It is restarted after an unexpected end, until it ends too often. */
export class Supervisor {
  private current: Promise<MongodRun | undefined> = Promise.resolve(undefined);
  private stopping = false;
  private ends: number[] = [];

  constructor(
    private readonly start: () => Promise<MongodRun>,
    private readonly say: Say,
    private readonly onLost: (error: FatalError) => void,
  ) {}

  /** Starts mongod for the first time. A failure is thrown to the caller. */
  async begin(): Promise<void> {
    this.current = this.start();
    this.watch(await this.current);
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await (await this.current)?.stop();
  }

  private watch(run: MongodRun | undefined): void {
    void run?.ended.then((how) => {
      if (!this.stopping) this.current = this.restart(how);
    });
  }

  private async restart(how: string): Promise<MongodRun | undefined> {
    let reason = how;
    while (!this.stopping) {
      if (this.isTooOften(Date.now())) {
        this.onLost(new FatalError(lost(reason)));
        return undefined;
      }
      this.say(`mongod ended with ${reason}; starting it again on the same data …`);
      try {
        const run = await this.start();
        this.say('mongod is back.');
        this.watch(run);
        return run;
      } catch (error) {
        reason = reasonOf(error);
        await delay(PAUSE_MS);
      }
    }
    return undefined;
  }

  private isTooOften(now: number): boolean {
    this.ends = [...this.ends.filter((time) => now - time < WITHIN_MS), now];
    return this.ends.length >= MOST_ENDS;
  }
}

function lost(reason: string): string {
  return `mongod ended ${MOST_ENDS} times within a minute, last with ${reason}. Look whether disk or memory is full.`;
}
