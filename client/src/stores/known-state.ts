import { type CopyState, CopyTakenError } from '../harvest/index.js';

/** The state that a store has read or written last, as it is stored: where another one stands, somebody else writes too. */
export class KnownState {
  private text: string | undefined;

  constructor(private readonly where: string) {}

  /** Reads what is stored; nothing where nothing is. */
  read(text: string | undefined): CopyState | undefined {
    this.text = text;
    return text === undefined ? undefined : (JSON.parse(text) as CopyState);
  }

  /** What must be stored still, for `next` to be stored in its place. */
  get before(): string | undefined {
    return this.text;
  }

  stored(text: string): void {
    this.text = text;
  }

  /** Throws unless what was to be replaced was there. */
  assertOurs(wasReplaced: boolean): void {
    if (!wasReplaced) throw new CopyTakenError(this.where);
  }
}
