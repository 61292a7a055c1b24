import type { KindDescription } from './kind.js';
import { member } from './member.js';
import { product } from './product.js';

export type { KindDescription } from './kind.js';

/**
 * Every kind of record, by its name: of lower-case letters, at most 30. It is in paths, and the `type` of an item whose record
 * stores none. To add a kind, describe it in a file beside this one and name it here.
 */
export const kinds = { member, product } satisfies Record<string, KindDescription>;

export type Kind = keyof typeof kinds;

export const KINDS = Object.keys(kinds) as readonly Kind[];

/** A value for each kind. */
export function byKind<T>(valueOf: (kind: Kind) => T): Record<Kind, T> {
  return Object.fromEntries(KINDS.map((kind) => [kind, valueOf(kind)])) as Record<Kind, T>;
}

export function describedKind(kind: Kind): KindDescription {
  return kinds[kind];
}

/** Records of all kinds, in texts for people: "members and products". */
export const RECORDS_IN_WORDS = KINDS.map((kind) => kinds[kind].plural).join(' and ');

/** The collection of each kind (contract §4). */
export const COLLECTION_OF: Readonly<Record<Kind, string>> = byKind((kind) => kinds[kind].collection);

/** The kind that channels select records of. */
export const CHANNEL_KIND = theOne(KINDS.filter((kind) => kinds[kind].hasChannelFeeds));

/** The kind whose records are people. */
export const PERSON_KIND = theOne(KINDS.filter((kind) => kinds[kind].isPerson));

assertDistinct();

function assertDistinct(): void {
  const wrong = KINDS.find((kind) => !/^[a-z]{1,30}$/.test(kind) || kind === `${CHANNEL_KIND}bychannel`);
  if (wrong !== undefined)
    throw new Error(`A kind cannot have the name "${wrong}". Take one such as "order".`);
  if (new Set(Object.values(COLLECTION_OF)).size < KINDS.length)
    throw new Error('Each kind has a collection of its own.');
}

function theOne([first, ...others]: Kind[]): Kind {
  if (first === undefined || others.length > 0)
    throw new Error('Exactly one kind has channel feeds, and exactly one is of people.');
  return first;
}
