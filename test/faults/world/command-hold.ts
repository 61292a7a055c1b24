import { Transform } from 'node:stream';
import { type SentCommand, sentCommand } from './sent-command.js';

const LENGTH_BYTES = 4;

/** Commands that are held on their way to the server, and where they are let go. */
export class CommandHold {
  /** What is held, or was. */
  readonly caught: SentCommand[] = [];
  /** Resolved once everything goes on. */
  readonly over: Promise<void>;
  private isOver = false;
  private end: () => void = () => undefined;

  /** Holds as many commands of which `isMeant` is true. */
  constructor(
    private readonly isMeant: (command: SentCommand) => boolean,
    private readonly most: number,
  ) {
    this.over = new Promise((resolve) => (this.end = resolve));
  }

  /** Whether it may hold another one. */
  get isOpen(): boolean {
    return !this.isOver && this.caught.length < this.most;
  }

  takes(command: SentCommand): boolean {
    if (!this.isOpen || !this.isMeant(command)) return false;
    this.caught.push(command);
    return true;
  }

  /** What is held reaches the server now, late. */
  release(): void {
    this.isOver = true;
    this.end();
  }
}

/** Passes on what a client sends, one whole message after the other. Where one is held, what follows it waits too. */
export class MessagesOnTheirWay extends Transform {
  private parts: Buffer[] = [];
  private length = 0;
  private holding = false;

  constructor(private readonly holds: ReadonlySet<CommandHold>) {
    super();
  }

  get isHolding(): boolean {
    return this.holding;
  }

  override _transform(part: Buffer, _encoding: BufferEncoding, done: (error?: Error) => void): void {
    this.parts.push(part);
    this.length += part.length;
    this.passOn().then(() => done(), done);
  }

  private async passOn(): Promise<void> {
    while (this.length >= LENGTH_BYTES) {
      const size = this.joined(LENGTH_BYTES).readInt32LE(0);
      if (this.length < size) return;
      const all = this.joined(size);
      const message = all.subarray(0, size);
      this.parts = [all.subarray(size)];
      this.length -= size;
      await this.holdWhereMeant(message);
      this.push(message);
    }
  }

  /** The first of the parts, with at least so many bytes. */
  private joined(size: number): Buffer {
    const [first] = this.parts;
    if (first !== undefined && first.length >= size) return first;
    const all = Buffer.concat(this.parts);
    this.parts = [all];
    return all;
  }

  private async holdWhereMeant(message: Buffer): Promise<void> {
    const open = [...this.holds].filter(({ isOpen }) => isOpen);
    if (open.length === 0) return;
    const command = sentCommand(message);
    const hold = command && open.find((one) => one.takes(command));
    if (hold === undefined) return;
    this.holding = true;
    await hold.over;
    this.holding = false;
  }
}
