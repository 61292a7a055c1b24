import { bucketOf, BUCKETS, CopySums } from '../../../client/src/harvest/digest-sums.js';
import type {
  AskedDigest,
  HarvestSource,
  ReadFrom,
  StampedWithin,
  ToldChange,
  ToldDigest,
  ToldPage,
} from '../../../client/src/harvest/index.js';
import { gone, upsert } from './changes.js';

class HistoryExpired extends Error {}
class SourceRestored extends Error {}

/** What a service holds, and up to where its time has come. */
interface Backup {
  alive: Map<string, string>;
  dead: Map<string, string>;
  clock: number;
}

/** Where a cursor leads: into a window, or behind one. */
interface Place {
  from?: string;
  to?: string;
  /** The last id that was delivered of the window. */
  after?: string;
  skips?: boolean;
}

/** `changes`, digest and updates of a service, as contract §1 says, with stamps of a clock that ticks with each write. */
export class SimulatedService implements HarvestSource {
  readonly feed = 'acme/shop/product/bikes';
  readonly asked: ReadFrom[] = [];
  readonly alive = new Map<string, string>();
  private readonly dead = new Map<string, string>();
  /** Up to here the time was announced: nobody can have been told of a later one. */
  private announced = '';
  private readonly moments = new Map<string, ToldChange[]>();
  private keptSince = '';
  private clock = 0;

  write(id: string): void {
    this.dead.delete(id);
    this.alive.set(id, this.tick());
  }

  remove(id: string): void {
    if (this.alive.delete(id)) this.dead.set(id, this.tick());
  }

  /** Hard deletes up to now are not kept any more. */
  forget(): void {
    this.dead.clear();
    this.keptSince = this.tick();
  }

  backUp(): Backup {
    return { alive: new Map(this.alive), dead: new Map(this.dead), clock: this.clock };
  }

  /** As it was before; only time goes on, and is announced as soon as somebody reads. */
  restore({ alive, dead, clock }: Backup, { isAnnounced = false } = {}): void {
    for (const [mine, kept] of [
      [this.alive, alive],
      [this.dead, dead],
    ] as const) {
      mine.clear();
      kept.forEach((stamp, id) => mine.set(id, stamp));
    }
    this.loseMoments();
    this.announced = isAnnounced ? this.tick() : new Date(clock).toISOString();
  }

  /** The clock of the server is slow by a time. */
  slowDown(ms: number): void {
    this.clock -= ms;
  }

  /** The database holds nothing of an earlier moment any more: pages go on as of now. */
  loseMoments(): void {
    this.moments.clear();
  }

  async *pages(asked: ReadFrom): AsyncIterable<ToldPage> {
    this.asked.push(asked);
    const { cursor, deletes, limit = 1000, signal } = asked;
    let place: Place =
      cursor === undefined
        ? {
            skips: deletes === 'skip',
            ...(asked.from && { from: asked.from }),
            ...(asked.to && { to: asked.to }),
          }
        : (JSON.parse(cursor) as Place);
    for (;;) {
      await Promise.resolve();
      signal?.throwIfAborted();
      const { from = '', to = this.now(), after, skips = false } = place;
      if (from !== '' && from < this.keptSince) throw new HistoryExpired('410');
      if (from > this.announced) throw new SourceRestored('410');
      if (to > this.announced) this.announced = to;
      const changes = this.windowOf(from, to, skips);
      const rest = changes.filter(({ id }) => after === undefined || id > after);
      const isLast = rest.length <= limit;
      const result = rest.slice(0, limit);
      place = isLast ? { from: to } : { from, to, skips, after: result.at(-1)!.id };
      const page = { result, to, cursor: JSON.stringify(place) };
      yield isLast ? page : { ...page, next: '/next' };
      if (isLast) return;
    }
  }

  async digest({ to, bucket }: AskedDigest): Promise<ToldDigest> {
    const records = [...this.alive].map(([id, lastupdated]) => ({ id, lastupdated }));
    const within = records.filter(({ lastupdated }) => lastupdated <= to);
    const sums = new CopySums();
    within.forEach((record) => sums.add(record));
    const told = bucket && within.filter(({ id }) => bucket.includes(bucketOf(id)));
    await Promise.resolve();
    return { count: within.length, buckets: sums.buckets.slice(0, BUCKETS), records: told };
  }

  async *updates({ from, to }: StampedWithin) {
    await Promise.resolve();
    for (const [id, stamp] of this.alive) if (stamp > from && stamp <= to) yield upsert(id, stamp);
  }

  // oxlint-disable-next-line require-yield
  async *events(): AsyncIterable<unknown> {
    await Promise.resolve();
  }

  isHistoryExpired(error: unknown): boolean {
    return error instanceof HistoryExpired;
  }

  isSourceRestored(error: unknown): boolean {
    return error instanceof SourceRestored;
  }

  isPassing(): boolean {
    return false;
  }

  /** As of one moment, ordered by id; where that is lost, what is stamped within the window now. */
  private windowOf(from: string, to: string, skips: boolean): ToldChange[] {
    const key = JSON.stringify([from, to, skips]);
    const known = this.moments.get(key);
    if (known !== undefined) return known;
    const within = ([, stamp]: [string, string]) => stamp > from && stamp <= to;
    const dead = skips ? [] : [...this.dead].filter(within);
    const all = [
      ...[...this.alive].filter(within).map(([id, stamp]) => upsert(id, stamp)),
      ...dead.map(([id, stamp]) => gone(id, stamp)),
    ];
    const changes = all.sort((one, other) => (one.id < other.id ? -1 : 1));
    this.moments.set(key, changes);
    return changes;
  }

  private now(): string {
    return new Date(this.clock).toISOString();
  }

  private tick(): string {
    this.clock += 1;
    return this.now();
  }
}
