import type { Identity } from './identity.js';

/** The identities under which records want to live that the ledger does not know there. */
export interface Claims {
  /** By a number: some other record may live there. */
  numbers: Identity[];
  /** By a text: only a number may still live there, since texts are unique. */
  texts: Identity[];
}

/** Who lives under an identity: the hex of the record's `_id`, and whether its `id` is stored as a number. */
export interface Holder {
  owner: string;
  isNumber?: true;
}

/** Who lives under an identity, by its key, as far as numbers are concerned: they claim it, or hold it. */
export type Holders = Map<string, Holder>;

export interface Rival {
  owner: string;
  identity: Identity;
}
