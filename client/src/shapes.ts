/** What is replicated. */
export type Kind = 'member' | 'product';

/** A record that matches (contract §1). Timestamps are texts such as `2026-11-20T10:00:00.000Z`. */
export interface UpdateItem {
  id: string;
  type: string;
  createDate: string;
  createdBy: string;
  lastupdated: string;
  data: { [key: string]: unknown };
  /** Always on products; on members where they are stored. */
  channels?: string[];
}

/** An item of `softdeletes` and `harddeletes` (contract §1), with a capital U. */
export interface DeleteItem {
  id: string;
  lastUpdated: string;
}

/** An item of `changes` (contract §1): a record that matches. */
export type ChangeUpsert = UpdateItem & { op: 'upsert' };

/** An item of `changes`: a record that left the filter, or is gone. */
export interface ChangeDelete {
  op: 'delete';
  id: string;
  lastupdated: string;
  reason: 'left' | 'gone';
}

export type ChangeItem = ChangeUpsert | ChangeDelete;

/** A page of `updates`, `softdeletes` or `harddeletes`. */
export interface Page<Item> {
  result: Item[];
  /** `""` on an empty page, which is the last one. */
  nextoffsetid: string;
  /** The `to` that all pages of this feed have: the header `Tidemark-To` of the first one. */
  to: string;
}

/** A page of `changes`. */
export interface ChangesPage {
  result: ChangeItem[];
  /** The `to` that was used. */
  to: string;
  /** `""` on the last page. */
  nextoffsetid: string;
  /** Relative URL of the next page; the last one has none. */
  next?: string;
  /** Goes on behind this page: within the window, or after its end with the next one. Store it once the page is applied. */
  cursor: string;
}

/** How far it is safe to read. */
export interface Offset {
  offset: string;
}

/** What the records of a bucket come to: how many, and a sum over id and timestamp of each, in 32 hex digits. */
export interface DigestSum {
  count: number;
  digest: string;
}

/** What the records of a service come to, as of `to`. */
export interface Digest extends DigestSum {
  to: string;
  buckets: DigestSum[];
  /** Of the buckets that were asked for. */
  records?: { id: string; lastupdated: string }[];
}

/** Named sections of texts or truths. */
export type Extrafields = { [section: string]: { [property: string]: string | boolean } };

/** A new member (contract §2). */
export interface CreateMember {
  accountnumber: string;
  email: string;
  channels?: string[];
  elevel?: number;
  contactname?: string;
  passwordhash?: string;
  extrafields?: Extrafields;
}

/** A change to a member (contract §2): what is left out stays, `null` deletes. */
export interface PatchMember {
  accountnumber?: string;
  email?: string;
  channels?: string[] | null;
  elevel?: number | null;
  contactname?: string | null;
  passwordhash?: string | null;
  extrafields?: { [section: string]: { [property: string]: string | boolean | null } | null } | null;
}

/** A change to the address of a member (contract §2). */
export interface PatchAddress {
  address?: string | null;
  address2?: string | null;
  zipcode?: string | null;
  city?: string | null;
  country?: string | null;
}
