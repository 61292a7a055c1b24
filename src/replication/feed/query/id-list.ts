import { setImmediate } from 'node:timers/promises';
import { mongo } from 'mongoose';

/** Bytes of an ObjectId. */
const WIDTH = 12;
/** Sorting fewer bytes takes no longer than other work of the process does. */
const LONG = 100_000;

/** The `_id`s of a window in their order, packed. */
export class IdList {
  private constructor(private readonly packed: Uint8Array) {}

  /** From packed `_id`s in any order. A long list leaves the process to others now and then. */
  static async sort(packed: Uint8Array): Promise<IdList> {
    return new IdList(await sorted(packed));
  }

  /** How many packed `_id`s there are. */
  static countOf(packed: Uint8Array): number {
    return packed.length / WIDTH;
  }

  get length(): number {
    return IdList.countOf(this.packed);
  }

  get bytes(): number {
    return this.packed.length;
  }

  /** At most `count` of the `_id`s behind one of them, or from the first on. */
  behind(id: mongo.ObjectId | undefined, count: number): mongo.ObjectId[] {
    const first = id === undefined ? 0 : this.placeBehind(id.id);
    const end = Math.min(first + count, this.length);
    return Array.from({ length: end - first }, (_, index) => new mongo.ObjectId(this.at(first + index)));
  }

  private placeBehind(id: Uint8Array): number {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (Buffer.compare(this.at(middle), id) <= 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private at(index: number): Uint8Array {
    return this.packed.subarray(index * WIDTH, (index + 1) * WIDTH);
  }
}

/** Byte by byte from the last to the first, which takes the same short time whatever the order is (radix sort). */
async function sorted(packed: Uint8Array): Promise<Uint8Array> {
  let from = new Uint8Array(packed);
  let to = new Uint8Array(packed.length);
  for (let byte = WIDTH - 1; byte >= 0; byte -= 1) {
    const places = placesBy(from, byte);
    if (places === undefined) continue;
    if (packed.length > LONG) await setImmediate();
    for (let at = 0; at < from.length; at += WIDTH) {
      const value = from[at + byte]!;
      const place = places[value]!;
      for (let offset = 0; offset < WIDTH; offset += 1) to[place + offset] = from[at + offset]!;
      places[value] = place + WIDTH;
    }
    [from, to] = [to, from];
  }
  return from;
}

/** Where the `_id`s with each value of a byte begin; nothing where all have the same. */
function placesBy(packed: Uint8Array, byte: number): Uint32Array | undefined {
  const counts = new Uint32Array(256);
  for (let at = byte; at < packed.length; at += WIDTH) counts[packed[at]!]! += 1;
  if (counts.includes(packed.length / WIDTH)) return undefined;
  const places = new Uint32Array(256);
  for (let value = 1; value < 256; value += 1)
    places[value] = places[value - 1]! + counts[value - 1]! * WIDTH;
  return places;
}
