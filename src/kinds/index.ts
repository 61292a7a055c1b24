import type { KindDescription } from './kind.js';
import { member } from './member.js';
import { product } from './product.js';

export type { KindDescription, OwnIndex } from './kind.js';

/** Every kind of record, by its name. To add a kind, describe it in a file beside this one and name it here. */
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

/** The collection of each kind (contract §4). */
export const COLLECTION_OF: Readonly<Record<Kind, string>> = byKind((kind) => kinds[kind].collection);

/** The kind that channels select records of. */
export const CHANNEL_KIND = theOne(KINDS.filter((kind) => kinds[kind].hasChannelFeeds));

/** The kind whose records are people. */
export const PERSON_KIND = theOne(KINDS.filter((kind) => kinds[kind].isPerson));

function theOne([first, ...others]: Kind[]): Kind {
  if (first === undefined || others.length > 0)
    throw new Error('Exactly one kind has channel feeds, and exactly one is of people.');
  return first;
}
