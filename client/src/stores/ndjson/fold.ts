import type { ItemLine } from './lines.js';

/** What a log holds of an id: the line that tells it, and the newest generation that told of it. */
interface HeldLine {
  lastupdated: string;
  generation: number;
  text: string;
}

/** Folds the lines of some ids into one line for each that is held. */
export class Fold {
  private readonly lines = new Map<string, HeldLine>();
  /** How many records the last sweep has removed. */
  swept = 0;

  add(line: ItemLine, text: string): void {
    if (line.op === 'sweep') {
      this.sweep(line.generation);
      return;
    }
    const held = this.lines.get(line.id);
    if (line.op === 'remove') this.lines.delete(line.id);
    else if (line.op === 'delete') {
      if (held !== undefined && line.lastupdated >= held.lastupdated) this.lines.delete(line.id);
    } else {
      const { lastupdated, generation = 0 } = line;
      if (held === undefined || lastupdated >= held.lastupdated)
        this.lines.set(line.id, { lastupdated, generation, text });
      else held.generation = generation;
    }
  }

  /** One line for each record that is held. */
  *held(): Iterable<string> {
    for (const { generation, text } of this.lines.values()) yield withGeneration(text, generation);
  }

  private sweep(generation: number): void {
    const old = [...this.lines].filter(([, line]) => line.generation < generation);
    for (const [id] of old) this.lines.delete(id);
    this.swept = old.length;
  }
}

/** How a line of an item ends: `generation` is its last field, and the item in it ends with a brace of its own. */
const ENDS = /(?:,"generation":\d+)?}$/;

/** An older line of a newer generation was told of, though it was not applied: what is held bears its mark. */
function withGeneration(text: string, generation: number): string {
  const mark = `,"generation":${generation}}`;
  return text.endsWith(mark) ? text : text.replace(ENDS, mark);
}
