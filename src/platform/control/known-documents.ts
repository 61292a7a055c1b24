import { LRUCache } from 'lru-cache';
import mongoose from 'mongoose';
import { atMost, SharedReads } from '../common/index.js';
import { type ControlChange, type Follower, idName } from './change.js';
import type { ControlStream } from './control-stream.js';

/**
 * Maximum sizes in bytes of BSON: of one document, and of all cached documents of a collection. Larger documents are
 * read each time.
 */
const LARGEST = 64 * 1024;
const MOST = 8 * 1024 * 1024;

/** Maximum number of names without a document. */
const MOST_ABSENT = 10_000;

/** A read in progress. Changes that are reported in the meantime may be newer than its result. */
interface UnderWay {
  changed: Set<string>;
  /** Whether any document was inserted. The change does not show under which name the document is requested. */
  isInserted: boolean;
  isOutdated: boolean;
}

type Read<T> = (options: { session: mongoose.mongo.ClientSession }) => Promise<T | null>;

/**
 * A cache of documents of one collection, by the name under which they are requested. Each is read once, on first
 * request, and kept until the control stream reports a change of it. A result with an undefined `_id` represents a
 * document that does not exist, and is kept until any document is inserted; null is never cached.
 */
export class KnownDocuments<T extends { _id: unknown }> implements Follower {
  private readonly nameOf = new Map<string, string>();
  private readonly byName = new LRUCache<string, T>({
    maxSize: MOST,
    maxEntrySize: LARGEST,
    sizeCalculation: sizeOf,
    dispose: ({ _id }) => this.nameOf.delete(idName(_id) ?? ''),
  });
  private readonly absent = new LRUCache<string, T>(atMost(MOST_ABSENT));
  private readonly shared = new SharedReads<T | null>();
  private readonly reads = new Set<UnderWay>();

  /**
   * With `reported` fields, a change updates the cached document at once, for those fields only. Without them, a
   * changed document is read again.
   */
  constructor(
    private readonly stream: ControlStream,
    readonly collection: string,
    readonly reported: readonly (keyof T & string)[] = [],
  ) {
    stream.follow(this);
  }

  /** The cached document, if any. */
  peek(name: string): T | undefined {
    return this.stream.isCurrent ? this.known(name) : undefined;
  }

  /** The cached document, or else the result of the read. */
  async find(name: string, read: () => Promise<T | null>): Promise<T | null> {
    if (!this.stream.isCurrent) return read();
    return this.known(name) ?? this.learn(name, read);
  }

  /**
   * Like {@link find}, but concurrent requests share a read. `read` must use the options that it receives, so that it
   * sees at least the state that the control stream has reported.
   */
  findShared(name: string, read: Read<T>): Promise<T | null> {
    return this.find(name, () => this.shared.share(name, () => this.stream.read(read)));
  }

  /** Drops a cached document that turned out to be outdated. */
  drop(name: string): void {
    this.byName.delete(name);
    this.absent.delete(name);
  }

  hear({ id, what, fields, removed }: ControlChange): void {
    const key = id === undefined ? undefined : idName(id);
    if (key === undefined) return this.forget();
    for (const { changed } of this.reads) changed.add(key);
    if (what === 'insert') this.hearInserted();
    const name = this.nameOf.get(key);
    if (name === undefined) return;
    const known = this.byName.peek(name);
    if (known === undefined || what === 'delete' || this.reported.length === 0) {
      this.byName.delete(name);
      return;
    }
    const before = what === 'update' ? known : { _id: known._id };
    const left = Object.entries(before).filter(([field]) => !removed.includes(field));
    this.remember(name, key, { ...Object.fromEntries(left), ...fields } as T);
  }

  forget(): void {
    for (const read of this.reads) read.isOutdated = true;
    this.byName.clear();
    this.absent.clear();
    this.nameOf.clear();
  }

  private known(name: string): T | undefined {
    return this.byName.get(name) ?? this.absent.get(name);
  }

  private hearInserted(): void {
    for (const read of this.reads) read.isInserted = true;
    this.absent.clear();
  }

  private async learn(name: string, read: () => Promise<T | null>): Promise<T | null> {
    const underWay: UnderWay = { changed: new Set(), isInserted: false, isOutdated: false };
    this.reads.add(underWay);
    try {
      const found = await read();
      if (found === null) return null;
      if (found._id === undefined) {
        if (!underWay.isOutdated && !underWay.isInserted) this.absent.set(name, found);
        return found;
      }
      const key = idName(found._id);
      const isNewest = key !== undefined && !underWay.isOutdated && !underWay.changed.has(key);
      if (isNewest) this.remember(name, key, found);
      return found;
    } finally {
      this.reads.delete(underWay);
    }
  }

  /** Caches a document under this name only, even if it was cached under another one before. */
  private remember(name: string, key: string, found: T): void {
    const other = this.nameOf.get(key);
    if (other !== undefined && other !== name) this.byName.delete(other);
    this.byName.set(name, found);
    if (this.byName.has(name)) this.nameOf.set(key, name);
  }
}

/** A document that the BSON library cannot measure counts as too large. */
function sizeOf(document: object): number {
  try {
    return mongoose.mongo.BSON.calculateObjectSize(document);
  } catch {
    return LARGEST + 1;
  }
}
