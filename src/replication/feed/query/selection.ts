import { setImmediate } from 'node:timers/promises';
import { mongo } from 'mongoose';
import type { Filter } from '../../../application/index.js';
import { collectionOf, type Kind } from '../../../kinds/index.js';
import type { Tenant } from '../../../record/index.js';
import { LEDGER } from '../../store/index.js';

/** Bytes of an ObjectId. */
const WIDTH = 12;
/** Sorting fewer bytes does not block the process noticeably. */
const LONG = 100_000;

/** The `_id`s of a window in ascending order, packed. */
export class IdList {
  private constructor(private readonly packed: Uint8Array) {}

  /** Sorts packed `_id`s. A long list yields to the event loop now and then. */
  static async sort(packed: Uint8Array): Promise<IdList> {
    return new IdList(await sorted(packed));
  }

  /** The number of packed `_id`s. */
  static countOf(packed: Uint8Array): number {
    return packed.length / WIDTH;
  }

  get length(): number {
    return IdList.countOf(this.packed);
  }

  get bytes(): number {
    return this.packed.length;
  }

  /** At most `count` of the `_id`s after `id`; without `id`, at most the first `count`. */
  behind(id: mongo.ObjectId | undefined, count: number): mongo.ObjectId[] {
    const first = id === undefined ? 0 : this.placeAfter(id.id);
    const end = Math.min(first + count, this.length);
    return Array.from({ length: end - first }, (_, index) => new mongo.ObjectId(this.at(first + index)));
  }

  private placeAfter(id: Uint8Array): number {
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

/** Radix sort, byte by byte from the last to the first. It takes the same short time for any order. */
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

/** Where the `_id`s with each value of a byte begin; undefined if all have the same value. */
function placesBy(packed: Uint8Array, byte: number): Uint32Array | undefined {
  const counts = new Uint32Array(256);
  for (let at = byte; at < packed.length; at += WIDTH) counts[packed[at]!]! += 1;
  if (counts.includes(packed.length / WIDTH)) return undefined;
  const places = new Uint32Array(256);
  for (let value = 1; value < 256; value += 1)
    places[value] = places[value - 1]! + counts[value - 1]! * WIDTH;
  return places;
}

/** The documents of a feed, regardless of the window: one shape for records and tombstones. */
export interface Selection {
  collection: string;
  /** The equality conditions that every query and every index begins with. */
  scope: mongo.Document;
  /** A further condition; absent for everything in scope. */
  filter?: Filter;
  /** For records: their kind. */
  kind?: Kind;
  /** For tombstones: the collection in which no record may live under the same `id`. */
  records?: string;
}

/** Records that match the filter; all of them without a filter. */
export function matching(tenant: Tenant, kind: Kind, filter?: Filter): Selection {
  return {
    ...recordsOf(tenant, kind),
    ...(filter && { filter }),
  };
}

/** Records that do not match the filter. */
export function notMatching(tenant: Tenant, kind: Kind, filter: Filter): Selection {
  return { ...recordsOf(tenant, kind), filter: { $nor: [filter] } };
}

/** The tombstones of the ledger, except those under whose `id` a record lives. */
export function tombstones({ organizationid, appid }: Tenant, kind: Kind): Selection {
  const scope = { organizationid, appid, kind, alive: false };
  return { collection: LEDGER, scope, records: collectionOf(kind) };
}

/** The filter of a channel. */
export function carries(channel: string): Filter {
  return { channels: { $eq: channel } };
}

function recordsOf({ organizationid, appid }: Tenant, kind: Kind): Selection {
  return { collection: collectionOf(kind), scope: { organizationid, appid }, kind };
}
