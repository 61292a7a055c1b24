import type { WatchedEvent } from '../../log/index.js';
import { type AsideApplication, type LaneCounts, Tempo, type Work } from '../../progress/index.js';

/** A change makes a tombstone, or a stamp and an `emailkey`: more echoes than these are not its own. */
const MOST_ECHOES = 2;
/** How much work an echo is, where a change is 1: a tombstone takes a quarter of the time of its delete (60,000 of each). */
const ECHO = 0.25;

type Counted = LaneCounts['done'];

/**
 * How much a lane has to read. The events that the main stream has read since the application was put aside come to the lane as
 * well, and what the lane writes comes back to it: of the changes that are left, as many echoes are expected as those before had.
 */
export class LaneWork {
  private readonly read: Counted;
  private readonly done: Counted;
  private begun: Counted = NONE;
  /** What was written since, with the echoes that it will have: what the log had before is no addition to it. */
  private added = 0;
  private readonly tempo: Tempo;

  constructor({ read, done }: LaneCounts) {
    this.read = { ...read };
    this.done = { ...done };
    this.tempo = new Tempo(this.look());
  }

  /** The main stream has read these, which are new, or which the log had before. */
  expect(events: WatchedEvent[], areNew: boolean): void {
    const more = counted(events);
    add(this.read, more);
    if (areNew) this.added += more.changes * (1 + this.echoes * ECHO);
  }

  /** The lane begins to work these through. */
  begin(events: WatchedEvent[]): void {
    this.begun = counted(events);
  }

  /** It has worked through what it had begun. */
  end(): void {
    add(this.done, this.begun);
    this.begun = NONE;
  }

  /** What is stored of it. */
  told(): Work & Required<Pick<AsideApplication, 'counts'>> {
    const { read, done } = this;
    const look = this.look();
    // The lane may be ahead of the main stream.
    const left = Math.max(0, workOf(read) - look.done);
    const expected = Math.max(0, read.changes - this.worked) * this.echoes * ECHO;
    return {
      done: look.done,
      total: look.done + left + expected,
      pace: this.tempo.look(look),
      counts: { read: { ...read }, done: { ...done } },
    };
  }

  /** Changes of which the echoes may have been read. */
  private get worked(): number {
    return this.done.changes + this.begun.changes;
  }

  /** How many a change has. */
  private get echoes(): number {
    return this.worked === 0 ? 0 : Math.min(MOST_ECHOES, this.read.echoes / this.worked);
  }

  private look() {
    return { at: performance.now(), done: workOf(this.done), added: this.added };
  }
}

const NONE: Counted = { changes: 0, echoes: 0 };

function workOf({ changes, echoes }: Counted): number {
  return changes + echoes * ECHO;
}

function counted(events: WatchedEvent[]): Counted {
  const echoes = events.filter(isEcho).length;
  return { changes: events.length - echoes, echoes };
}

/** Whether the watcher has written it, as a rule. */
function isEcho(event: WatchedEvent): boolean {
  return event.type === 'tombstone' || (event.type === 'written' && (event.isStampOnly || event.isKeyOnly));
}

function add(to: Counted, { changes, echoes }: Counted): void {
  to.changes += changes;
  to.echoes += echoes;
}
