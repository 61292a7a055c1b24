import type { Weights } from '../random/dice.js';
import type { ChangeName } from '../writers/changes.js';
import type { ModelWorld } from '../world/world.js';
import type { StampChoice } from '../writers/stamps.js';

/** What may happen in one turn of a schedule. */
export type ProfilePart =
  | 'watch'
  | 'consume'
  | 'write'
  | 'commit'
  | 'operate'
  | 'lose collection'
  | 'lose history'
  | 'lose old history'
  | 'raise'
  | 'lease runs out'
  | 'crash'
  | 'hang'
  | 'wake'
  | 'abandon'
  | 'what is left behind'
  | 'crash of a consumer'
  | 'clock'
  | 'expire'
  | 'follow'
  | 'refuse'
  | 'take again'
  | 'look after'
  | 'forget'
  | 'work beside'
  | 'pass over the kind';

/** The three feeds; `changes` by its cursor; `changes` from the greatest stamp of a complete harvest on. */
export type ModelReading = 'feeds' | 'cursor' | 'greatest stamp';

/** A sort of schedule: how many turns it has and what happens how often. */
export interface Profile {
  /** What has happened before the first turn; absent: nothing. */
  opening?: (world: ModelWorld) => void;
  turns: number;
  parts: Weights<ProfilePart>;
  /** Absent: anything. */
  changes?: Weights<ChangeName>;
  /** Absent: anything. */
  stamps?: Weights<StampChoice>;
  /** How likely the server does not hold a moment any more. */
  gone?: number;
  /** Records are inserted under so many `id`s that most are new; else under few. */
  manyPlaces?: true;
  /** Some of the `id`s are numbers, so that several records claim one. */
  numbers?: true;
  /** No page holds more than a few items, so that harvests are broken off between two of them; else half of them do. */
  smallPages?: true;
  /** How far an actor may get in one turn; absent: rarely far, so that others come between. */
  strides?: readonly number[];
  /** What the three consumers read, one after the other; absent: the three feeds. */
  reads?: readonly [ModelReading, ModelReading, ModelReading];
  /** How many of the three consumers have a filter; absent: one. */
  filtered?: number;
  /** Instances follow the log, and go by what they know. */
  isKnowing?: true;
  /** How likely a head cannot be written. */
  headFails?: number;
  /** Progress by application: how likely one is put aside before a batch, and is left to a pass of its own by one over everything. */
  lanes?: { aside: number; later?: number };
  /** An operator has just created the kind: it waits for a pass over its records, and until that has ended nothing is shown. */
  isCreated?: true;
  /** Filters: whether one that was in force comes back, and whether `services` is compared on a timer too. */
  everNew?: true;
  timer?: false;
  /** Services that an event names wait for a look beside the stream; absent: the stream waits for it. */
  waiting?: true;
}
