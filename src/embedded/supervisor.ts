import { setTimeout as delay } from 'node:timers/promises';
import { FatalError } from '../common/index.js';
import { reasonOf, type Say } from './run-program.js';

/** Something that runs until it is stopped, or ends by itself. */
interface MongodRun {
  /** How it ended, whenever it does. */
  ended: Promise<string>;
  stop(): Promise<unknown>;
}

const MOST_ENDS = 5;
const WITHIN_MS = 60_000;
/** Before another attempt where it did not come up at all. */
const PAUSE_MS = 500;

/** Keeps a mongod running: starts it again when it ends unasked, until that happens too often to be worth it. */
export class Supervisor {
  private current: Promise<MongodRun | undefined> = Promise.resolve(undefined);
  private stopping = false;
  private ends: number[] = [];

  constructor(
    private readonly start: () => Promise<MongodRun>,
    private readonly say: Say,
    private readonly onLost: (error: FatalError) => void,
  ) {}

  /** Starts it for the first time; a failure is the caller's. */
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
