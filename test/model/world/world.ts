import type { mongo } from 'mongoose';
import { CalmDice, type Dice } from '../random/dice.js';
import type { MutantName } from '../mutants/names.js';
import type { Profile } from '../schedule/profile.js';
import type { WrittenEvent } from '../../../src/replication/protocol/events.js';
import type { LogPlace } from '../../../src/replication/protocol/place.js';
import type { Moment } from '../../../src/replication/protocol/marks.js';
import type { ModelWatcher } from '../watcher/watcher.js';
import type { ModelConsumer } from '../consumer/consumer.js';
import { Database } from './database.js';
import { objectId } from './documents.js';
import type { ModelSteps } from './steps.js';

/** A raise of a mark, known to one instance. It is in flight until the watcher has passed it. */
export interface Raise {
  appid: string;
  /** When the command began. */
  clock: Date;
  /** Its place in the log, once it is written. */
  at?: mongo.Timestamp;
}

/** What `max` answered last, as of a moment. */
export interface MaxAnswer {
  moment: Moment;
  greatest: Date;
  /** Whether there were stamps above the fence as of that moment. */
  isBeaten: boolean;
}

/**
 * A watcher from the start of its process, or from when the one before it was abandoned, until its own end. What is
 * abandoned is left behind: its effects may still land, one by one, but it leads no more.
 */
export interface WatcherLife {
  steps: ModelSteps;
  /** Looks after what was set aside, once it has begun. */
  aftercare?: ModelSteps;
  /** The loop that leads or has led last; it has the lanes beside it. */
  main?: ModelWatcher | undefined;
  /** Stamps for edited filters, once it has begun; and the term in which one of both looks at the filters. */
  stamping?: ModelSteps;
  looksIn?: number | undefined;
  /** Looks at services beside the loops, once it has begun; those that wait for it in this term, and whether it looks at one. */
  looking?: ModelSteps;
  waiting: Set<string>;
  isLooking: boolean;
  /** Passes over the records of a created kind, once one has begun. */
  kindPass?: ModelSteps | undefined;
  /** The latest places at which a pass over the kind began, and at which its collection was lost. */
  kindBegunAt?: LogPlace;
  kindLostAt?: LogPlace;
  /** The term in which it leads, or has led last. */
  term?: number;
  /** A call of it does not end: nothing more happens until it does. */
  hangs: boolean;
  isLeftBehind: boolean;
}

/** One process of the service. What it remembers dies with it. */
export interface Instance {
  name: string;
  watcher: WatcherLife;
  /** Removes expired hard deletes, once it has begun. */
  expiry?: ModelSteps;
  /** Of each application. */
  raises: Map<string, Raise>;
  answers: Map<string, MaxAnswer>;
  /** Up to where it knows what every instance knows; absent: it asks the database. For a mutant the filters apart. */
  known?: mongo.Timestamp;
  knownFilters?: mongo.Timestamp;
}

/** Everything of one history: the database and whoever is at work on it. */
export class ModelWorld {
  readonly database = new Database();
  readonly instances: Instance[] = [];
  readonly consumers: ModelConsumer[] = [];
  /** Watchers that were abandoned in the middle of their work. */
  readonly leftBehind: WatcherLife[] = [];
  /** Writers that have not committed yet. */
  readonly writers: ModelSteps[] = [];
  /** Every harvest goes up to `max`; else some go up to the clock. */
  asksMax = false;
  /** Decides whatever is open within the present turn. */
  dice: Dice = new CalmDice();
  /** Told of what leaves no trace in the log, where somebody listens. */
  tell?: (what: string) => void;
  /** Events whose records watchers have read as of them. */
  readonly read = new WeakSet<WrittenEvent>();
  /** How many entries of the quarantine were made. */
  asides = 0;
  private identifiers = 0;
  private texts = 0;

  constructor(
    readonly profile: Profile,
    readonly mutant?: MutantName,
  ) {}

  /** Whether this is the world in which this piece of the protocol is spoiled. */
  has(mutant: MutantName): boolean {
    return this.mutant === mutant;
  }

  newId(): mongo.ObjectId {
    return objectId(this.identifiers++);
  }

  newText(): number {
    return ++this.texts;
  }
}
