import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { atMost, pause } from '../../platform/common/index.js';
import { type MarkKey, markName } from '../protocol/index.js';

const REMEMBERED = 100_000;

/** What happened to an application and kind. */
export interface ChangedMark {
  mark: MarkKey;
  /** Records were written or deleted. */
  isMoved: boolean;
  /** Another version of a service took effect. */
  isEdited: boolean;
}

/**
 * The applications and kinds in which the leader has seen a change, for work that follows the changes beside the stream. It is
 * in memory only: a new leader begins by looking at all of them.
 */
@Injectable()
export class ChangedMarks {
  private changed = new LRUCache<string, ChangedMark>(atMost(REMEMBERED));
  private wake: () => void = () => undefined;

  moved(mark: MarkKey): void {
    this.note(mark).isMoved = true;
  }

  edited(mark: MarkKey): void {
    this.note(mark).isEdited = true;
  }

  /** Waits until something changes, for at most `ms` milliseconds; at once if something has. */
  async wait(ms: number, stop: AbortSignal): Promise<void> {
    const changed = new AbortController();
    this.wake = () => changed.abort();
    if (this.changed.size === 0) await pause(ms, AbortSignal.any([stop, changed.signal]));
  }

  /** Returns what has changed since the last call. */
  take(): ChangedMark[] {
    const taken = [...this.changed.values()];
    this.changed.clear();
    return taken;
  }

  private note({ organizationid, appid, kind }: MarkKey): ChangedMark {
    const mark = { organizationid, appid, kind };
    const name = markName(mark);
    const known = this.changed.get(name) ?? { mark, isMoved: false, isEdited: false };
    this.changed.set(name, known);
    this.wake();
    return known;
  }
}
