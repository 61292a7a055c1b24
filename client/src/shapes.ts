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
  ServiceDigest,
  UpdateItem,
} from './generated/types.gen.js';

/**
 * The kinds of records by their names. For a service that has others, add them:
 * `declare module 'tidemark-client' { interface Kinds { order: true } }`.
 */
export interface Kinds {
  member: true;
  product: true;
}

/** A kind of record. */
export type Kind = keyof Kinds;

/** A page of `updates`, `softdeletes` or `harddeletes`. */
export interface Page<Item> {
  result: Item[];
  /** `""` on an empty page, which is the last one. */
  nextoffsetid: string;
  /** The `to` that all pages of this feed have: the header `Tidemark-To` of the first one. */
  to: string;
}
