import { barLine } from './progress-text.js';

/** Where progress is shown. */
export interface HarvestTerminal {
  write(text: string): unknown;
  isTTY?: boolean | undefined;
}

/** Milliseconds between two signs of life. */
const ON_TERMINAL = 100;
const ELSEWHERE = 5000;
const CLEAR = '\r\u001b[K';

/** Shows how far a harvest is: one line that changes on a terminal, else a line every 5 s; JSON for machines. */
export class HarvestProgress {
  /** How many items there will be, once that is known. */
  total: number | undefined;
  private readonly begun = performance.now();
  private shownAt = 0;
  private hasLine = false;

  constructor(
    private readonly terminal: HarvestTerminal,
    private readonly isForMachines: boolean,
  ) {}

  get isOnTerminal(): boolean {
    return this.terminal.isTTY === true && !this.isForMachines;
  }

  at(items: number): void {
    const now = performance.now();
    if (now - this.shownAt < (this.isOnTerminal ? ON_TERMINAL : ELSEWHERE)) return;
    if (this.shownAt === 0 && !this.isOnTerminal) {
      this.shownAt = now;
      return;
    }
    this.shownAt = now;
    const seconds = (now - this.begun) / 1000;
    const { total } = this;
    const known = total === undefined ? {} : { total };
    if (this.isForMachines) this.line(JSON.stringify({ progress: { items, ...known, seconds } }));
    else if (this.isOnTerminal) this.replace(barLine({ items, ...known, seconds }));
    else this.line(barLine({ items, ...known, seconds }));
  }

  /** A line of its own. */
  line(text: string): void {
    this.clear();
    this.terminal.write(`${text}\n`);
  }

  clear(): void {
    if (this.hasLine) this.terminal.write(CLEAR);
    this.hasLine = false;
  }

  private replace(text: string): void {
    this.terminal.write(`${CLEAR}${text}`);
    this.hasLine = true;
  }
}
