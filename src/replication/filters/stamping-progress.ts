import { Tempo, type Work } from '../progress/index.js';

/** Tells at times how many records were looked through for an edited filter, of how many. A stamping that is over sooner tells nothing. */
export class StampingProgress {
  /** Records of the stretches that are done. */
  private done = 0;
  private total: number | undefined;
  private isCounted = false;
  private toldAt = performance.now();
  private readonly tempo = new Tempo({ at: this.toldAt, done: 0 });

  constructor(
    /** Counts the records of the application and kind; undefined where the server cannot say it in time. */
    private readonly count: () => Promise<number | undefined>,
    private readonly tell: (work: Partial<Work>) => Promise<void>,
    /** The least time between two tells (milliseconds). */
    private readonly tellMs: number,
  ) {}

  /** A stretch is done. */
  async advance(records: number): Promise<void> {
    await this.within(records);
    this.done += records;
  }

  /** So many records of the stretch under way are done. */
  async within(records: number): Promise<void> {
    const at = performance.now();
    if (at - this.toldAt < this.tellMs) return;
    this.toldAt = at;
    const done = Math.floor(this.done + records);
    const pace = this.tempo.look({ at, done });
    if (!this.isCounted) {
      // Where the server could not say it in time, it could not later either.
      this.isCounted = true;
      this.total = await this.count();
    }
    await this.tell({ done, pace, ...(this.total !== undefined && { total: this.total }) });
  }
}
