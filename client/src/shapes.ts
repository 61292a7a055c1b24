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

/** A kind of record: `member`, `product`, or another one that the service has. */
export type Kind = 'member' | 'product' | (string & Record<never, never>);

/** A page of `updates`, `softdeletes` or `harddeletes`. */
export interface Page<Item> {
  result: Item[];
  /** `""` on an empty page, which is the last one. */
  nextoffsetid: string;
  /** The `to` that all pages of this feed have: the header `Tidemark-To` of the first one. */
  to: string;
}
