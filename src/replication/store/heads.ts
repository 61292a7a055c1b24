import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import { LRUCache } from 'lru-cache';
import type { Model } from 'mongoose';
import { atMost, later, pause } from '../../platform/common/index.js';
import {
  type KnownFences,
  type Heads,
  type StoredHead,
  markKey,
  type MarkKey,
  markName,
} from '../protocol/index.js';
import { HEAD_MODEL, HEADS } from './collections.schema.js';
import { type ControlChange, ControlStream, type Follower } from '../../platform/control/index.js';

const REMEMBERED_BY_WRITER = 100_000;

/**
 * The only writer of `tidemark.heads`. A head never decreases, so a late write by a former leader does no harm. A head above
 * the fence needs no update until the mark is raised past it.
 */
@Injectable()
export class HeadWriter {
  /** The heads that this term has written. */
  private written = new LRUCache<string, Date>(atMost(REMEMBERED_BY_WRITER));

  constructor(@InjectModel(HEAD_MODEL) private readonly heads: Model<StoredHead>) {}

  /**
   * Starts with an empty cache: heads written in another term may be gone. A late write of an earlier term updates only the
   * cache of that term.
   */
  beginTerm(): void {
    this.written = new LRUCache(atMost(REMEMBERED_BY_WRITER));
  }

  /** Must be called before the token after these changes is stored. */
  async write(heads: Heads, fences: KnownFences): Promise<void> {
    const { written } = this;
    const news = [...heads].filter(([name, { stamp }]) => {
      const [before, fence] = [written.get(name), fences.get(name)];
      return before === undefined || (stamp > before && (fence === undefined || before <= fence));
    });
    if (news.length === 0) return;
    const writes = news.map(([, { mark, stamp }]) => ({
      updateOne: { filter: { _id: markKey(mark) }, update: { $max: { stamp } }, upsert: true },
    }));
    await this.heads.collection.bulkWrite(writes, { ordered: false });
    for (const [name, { stamp }] of news) written.set(name, stamp);
  }
}

const REMEMBERED = 20_000;
const NO_HEAD = new Date(0);

/** A read in progress, and the greatest head that the control stream reports meanwhile. */
interface UnderWay {
  over: Promise<void>;
  head: Date;
  isOutdated: boolean;
}

/**
 * The heads that this instance knows. Each is read once, then followed in the control stream. The instance's own writes
 * count at once.
 */
@Injectable()
export class KnownHeads implements Follower {
  readonly collection = HEADS;
  readonly reported = ['stamp'] as const;
  private readonly heads = new LRUCache<string, Date>(atMost(REMEMBERED));
  private readonly own = new LRUCache<string, Date>(atMost(REMEMBERED));
  private readonly reads = new Map<string, UnderWay>();

  constructor(
    private readonly control: ControlStream,
    @InjectModel(HEAD_MODEL) private readonly model: Model<StoredHead>,
  ) {
    control.follow(this);
  }

  /** The head; the epoch if there is none, undefined if it is not known. */
  of(mark: MarkKey): Date | undefined {
    const name = markName(mark);
    const head = this.control.isCurrent ? this.heads.get(name) : undefined;
    return head && later(head, this.own.get(name) ?? NO_HEAD);
  }

  /**
   * Reads the head, so that it is known from now on. It stays unknown if the read does not succeed soon, or if another
   * program has replaced it by something that is not a date: the leader may no longer be able to raise it.
   */
  async learn(mark: MarkKey): Promise<void> {
    if (!this.control.isCurrent) return;
    const name = markName(mark);
    const underWay = this.reads.get(name);
    if (underWay !== undefined) return underWay.over;
    const read = { head: NO_HEAD, isOutdated: false, over: Promise.resolve() };
    read.over = this.read(mark, read).finally(() => this.reads.delete(name));
    this.reads.set(name, read);
    return read.over;
  }

  /** Notes that this instance has written a record with this stamp. */
  wrote(mark: MarkKey, stamp: Date): void {
    const name = markName(mark);
    this.own.set(name, later(stamp, this.own.get(name) ?? NO_HEAD));
  }

  /** A head that another program has removed or replaced is read again. */
  hear({ id, what, fields }: ControlChange): void {
    if (id === undefined) return this.forget();
    if (typeof id !== 'object' || id === null) return;
    const name = markName(id as MarkKey);
    const { stamp } = fields as Partial<StoredHead>;
    const [known, underWay] = [this.heads.get(name), this.reads.get(name)];
    const isReported = stamp instanceof Date && (what === 'insert' || what === 'update');
    if (underWay !== undefined && isReported) underWay.head = later(underWay.head, stamp);
    else if (underWay !== undefined) underWay.isOutdated = true;
    if (!isReported) this.heads.delete(name);
    else if (known !== undefined) this.heads.set(name, later(known, stamp));
  }

  forget(): void {
    this.heads.clear();
    for (const read of this.reads.values()) read.isOutdated = true;
  }

  private async read(mark: MarkKey, underWay: UnderWay): Promise<void> {
    const stored = await this.control.readSoon((options) =>
      this.model.collection.findOne<Partial<StoredHead>>({ _id: markKey(mark) }, options),
    );
    const stamp = stored === null ? NO_HEAD : stored?.stamp;
    if (!(stamp instanceof Date)) return;
    if (!underWay.isOutdated) this.heads.set(markName(mark), later(stamp, underWay.head));
  }
}

const REMEMBERED_MARKS = 100_000;

/** What happened to an application and kind. */
interface ChangedMark {
  mark: MarkKey;
  /** Records were written or deleted. */
  isMoved: boolean;
  /** Another version of a service took effect. */
  isEdited: boolean;
}

/**
 * The applications and kinds in which the leader has seen a change, for work that follows the changes in parallel with
 * the stream. The list is in memory only, so such work begins with all applications and kinds under a new leader.
 */
@Injectable()
export class ChangedMarks {
  private changed = new LRUCache<string, ChangedMark>(atMost(REMEMBERED_MARKS));
  private wake: () => void = () => undefined;

  moved(mark: MarkKey): void {
    this.note(mark).isMoved = true;
  }

  edited(mark: MarkKey): void {
    this.note(mark).isEdited = true;
  }

  /**
   * Waits until something changes, for at most `ms` milliseconds. Returns at once if something has changed since the
   * last {@link take}.
   */
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
