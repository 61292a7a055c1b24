/** What goes over the wire (contract §1 and §2), as the service's OpenAPI document tells it. Timestamps are texts. */
export type {
  ChangeDelete,
  ChangeItem,
  ChangesPage,
  ChangeUpsert,
  CreateMember,
  DeleteItem,
  InputError,
  MemberItem,
  PatchAddress,
  PatchMember,
  SafeOffset,
  UpdateItem,
} from './generated/types.gen.js';

/** What is replicated. */
export type Kind = 'member' | 'product';

/** A page of `updates`, `softdeletes` or `harddeletes`. */
export interface Page<Item> {
  result: Item[];
  /** `""` on an empty page, which is the last one. */
  nextoffsetid: string;
  /** The `to` that all pages of this feed have: the header `Tidemark-To` of the first one. */
  to: string;
}

/** How many records there are, and a sum over id and timestamp of each, in 32 hex digits. */
export interface DigestSum {
  count: number;
  digest: string;
}

/** What the records of a service come to, as of `to`. */
export interface Digest extends DigestSum {
  to: string;
  /** By the first byte of SHA-256 of their `id`, modulo the number of buckets. */
  buckets: DigestSum[];
  /** Of the buckets that were asked for. */
  records?: { id: string; lastupdated: string }[];
}
