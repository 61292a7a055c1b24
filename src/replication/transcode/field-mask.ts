import { createHmac } from 'node:crypto';
import { type FieldBranch, fieldTree, type ShownFields, type Treatment } from '../../application/pure.js';
import { canonicalText } from '../../record/index.js';

/** Bytes of a hash that are shown (contract §7). */
const SHOWN_BYTES = 16;
/** The treatments, as `assembly/mask.ts` has them. */
const CODES = { show: 0, hide: 1, hash: 2 } as const;
const WORD = 4;

/** The fields that update items show, compiled for the program that writes them. */
export interface FieldMask {
  /** The treatment of each field, as `assembly/mask.ts` reads it. */
  bytes: Uint8Array;
  /** The key of the hashes; undefined if there are none. */
  key: HashKeyBytes | undefined;
}

/** The key of hashes, or `none yet` before an application has one: `(hash)` is then written in place of each hash. */
export type HashKeyBytes = Uint8Array | 'none yet';

/** Compiles the fields of a service. `key` is that of its application, and is needed for hashes. */
export function fieldMask(fields: ShownFields, key?: HashKeyBytes): FieldMask {
  const { createdBy, channels, data } = fieldTree(fields);
  const text = new MaskText();
  const start = text.words(3);
  text.set(start, CODES[createdBy]);
  text.set(start + WORD, CODES[channels]);
  text.set(start + 2 * WORD, text.branch(data));
  return { bytes: text.bytes(), key };
}

/** The JSON text of the keyed hash of a value (contract §7). `value` is as the driver reads it for JSON. */
export function hashText(key: HashKeyBytes, value: unknown): string {
  if (key === 'none yet') return '"(hash)"';
  const hash = createHmac('sha256', key).update(canonicalText(value)).digest();
  return `"${hash.toString('base64url', 0, SHOWN_BYTES)}"`;
}

/** Writes the parts of a mask one after the other. A part is identified by its place, its offset in the mask. */
class MaskText {
  private memory = Buffer.alloc(256);
  private end = 0;

  bytes(): Uint8Array {
    return this.memory.subarray(0, this.end);
  }

  /** Makes room for a number of words, all 0, and returns its place. */
  words(count: number): number {
    return this.room(count * WORD);
  }

  set(place: number, word: number): void {
    this.memory.writeUInt32LE(word, place);
  }

  /** Writes a branch with a table that is at most half full, so that a search ends soon. */
  branch({ others, named }: FieldBranch): number {
    let slots = 2;
    while (slots < 2 * named.size) slots *= 2;
    const place = this.words(2 + slots);
    this.set(place, CODES[others]);
    this.set(place + WORD, slots - 1);
    const taken = new Set<number>();
    for (const [name, treatment] of named) {
      const bytes = Buffer.from(name);
      let slot = slotOf(bytes) & (slots - 1);
      while (taken.has(slot)) slot = (slot + 1) & (slots - 1);
      taken.add(slot);
      this.set(place + (2 + slot) * WORD, this.name(bytes, treatment));
    }
    return place;
  }

  private name(bytes: Buffer, treatment: Treatment): number {
    const place = this.room(2 * WORD + bytes.length);
    this.set(place + WORD, bytes.length);
    bytes.copy(this.memory, place + 2 * WORD);
    this.set(place, typeof treatment === 'string' ? CODES[treatment] : this.branch(treatment));
    return place;
  }

  private room(bytes: number): number {
    const place = this.end;
    this.end = Math.ceil((place + bytes) / WORD) * WORD;
    while (this.end > this.memory.length)
      this.memory = Buffer.concat([this.memory, Buffer.alloc(this.memory.length)]);
    return place;
  }
}

/** The slot of a name before it is cut to the size of the table. The program computes the same from a key. */
function slotOf(name: Buffer): number {
  const at = (place: number) => name[place] ?? 0;
  return name.length + 7 * at(0) + 31 * at(name.length >> 1) + 127 * at(name.length - 1);
}
