import type { Kind } from '../../../src/kinds/index.js';
import type { Random } from './random.js';

/** Few of everything, so that writers meet at the same records. */
const IDS_PER_KIND = 24;
const EMAILS = 16;

export const COLOURS = ['red', 'green', 'blue'] as const;

/** The channel that a consumer follows comes first. */
export const CHANNELS = ['red', 'green', 'blue'] as const;

export const FOLLOWED_CHANNEL = CHANNELS[0];

const FILTERS = [
  { 'data.colour': 'red' },
  { 'data.n': { $gte: 50 } },
  { 'data.colour': { $in: ['red', 'green'] } },
  { channels: 'blue', 'data.n': { $lt: 80 } },
] as const;

/** The fields of the items; the second are in no filter, and the third in some. */
const FIELDS = [
  undefined,
  { except: ['createdBy', 'data.email'] },
  { only: ['data.colour', 'channels'] },
] as const;

/** What an operator registers in turn: each filter with each of the fields. */
export const VIEWS = FILTERS.flatMap((filter) => FIELDS.map((fields) => ({ filter, fields })));

export const SERVICES = ['alpha', 'beta'] as const;

export type ServiceName = (typeof SERVICES)[number];

/** The services and what a history begins with: two filters, with all fields. */
export const FOLLOWED_VIEWS: readonly [ServiceName, number][] = SERVICES.map((name, filter) => [
  name,
  filter * FIELDS.length,
]);

/** What other programs and the API put into a record. */
export interface Content {
  colour: (typeof COLOURS)[number];
  n: number;
  email: string;
  channels: string[];
}

/** An `id` of the small key space. */
export function someId(random: Random, kind: Kind): string {
  return `${kind}-${random.below(IDS_PER_KIND)}`;
}

/** One such record is enough. */
export const LONG_CHANNEL_ID = 'product-long';

/** Never the text of an `id` of the key space. */
export function someNumber(random: Random): number {
  return 990_017 + random.below(3);
}

/** A number that several records may have, beside its text: another one than those. */
export function someClaimed(random: Random): number {
  return 990_020 + random.below(3);
}

/** Every `id` of the small key space. */
export function allIds(kind: Kind): string[] {
  return Array.from({ length: IDS_PER_KIND }, (_, index) => `${kind}-${index}`);
}

export function someContent(random: Random): Content {
  return {
    colour: random.pick(COLOURS),
    n: random.below(100),
    email: `member${random.below(EMAILS)}@example.org`,
    channels: CHANNELS.filter(() => random.chance(0.4)),
  };
}
