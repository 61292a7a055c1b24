import type { mongo } from 'mongoose';
import { count } from '../../platform/common/index.js';
import type { Unstamped } from '../../record/index.js';
import { type Concern, setAsideFromOutside } from '../../replication/store/plain.js';

const MOST_NAMED = 1000;
const NAMED_IN_TEXT = 5;
const LONGEST_NAME = 100;
const HELD = 'A transaction of another program holds it';

/** A record or hard delete that could not be stamped. */
interface NotStamped {
  what: 'record' | 'hard delete';
  _id: string;
  /** The `id` that consumers know, if it is a string. */
  id?: string;
  reason: string;
}

/** What could not be stamped; empty if everything was. */
interface NotStampedSummary {
  /** The number of documents that MongoDB refused to stamp. */
  refused?: number;
  /** The number of documents that transactions of other programs still held when the command ended. */
  held?: number;
  /** The first 1,000 documents that could not be stamped. */
  setAside?: NotStamped[];
}

/** The collection that is stamped, and how the quarantine identifies its documents. */
interface StampTarget {
  collection: mongo.Collection;
  concern: (owner: mongo.ObjectId) => Concern;
}

/** Quarantines the documents that a command could not stamp, counts them, and lists the first of them. */
export class NotStampedCollector {
  private counts = { refused: 0, held: 0 };
  private named: NotStamped[] = [];

  constructor(private readonly db: mongo.Db) {}

  get summary(): NotStampedSummary {
    const { refused, held } = this.counts;
    return {
      ...(refused > 0 && { refused }),
      ...(held > 0 && { held }),
      ...(this.named.length > 0 && { setAside: this.named }),
    };
  }

  async refused(target: StampTarget, all: Unstamped[]): Promise<void> {
    await this.setAside(target, all);
    this.counts.refused += all.length;
  }

  async held(target: StampTarget, ids: mongo.ObjectId[]): Promise<void> {
    await this.setAside(
      target,
      ids.map((_id) => ({ _id, reason: HELD })),
    );
    this.counts.held += ids.length;
  }

  private async setAside({ collection, concern }: StampTarget, all: Unstamped[]): Promise<void> {
    if (all.length === 0) return;
    await setAsideFromOutside(
      this.db,
      all.map(({ _id, reason }) => ({ concern: concern(_id), reason })),
    );
    const some = all.slice(0, MOST_NAMED - this.named.length);
    const among = { _id: { $in: some.map(({ _id }) => _id) } };
    const found = await collection.find(among, { projection: { id: 1 } }).toArray();
    const ids = new Map(found.map(({ _id, id }) => [String(_id), id as unknown]));
    for (const { _id, reason } of some) {
      const id = ids.get(_id.toHexString());
      const what = concern(_id).what === 'record' ? 'record' : 'hard delete';
      this.named.push({ what, _id: _id.toHexString(), ...(typeof id === 'string' && { id }), reason });
    }
  }
}

/** The message for stderr; undefined if everything was stamped. */
export function notStampedText(summary: NotStampedSummary): string | undefined {
  const { refused = 0, held = 0, setAside = [] } = summary;
  const all = refused + held;
  if (all === 0) return undefined;
  const reason = setAside.find((one) => one.reason !== HELD)?.reason ?? 'no reason is known';
  const causes = [
    ...(held === 0 ? [] : [`a transaction of another program holds ${count(held)}`]),
    ...(refused === 0 ? [] : [`MongoDB refuses ${count(refused)} (${reason})`]),
  ];
  const named = setAside.slice(0, NAMED_IN_TEXT).map(({ id, _id }) => (id ?? _id).slice(0, LONGEST_NAME));
  const others = all - named.length;
  const names = `${named.join(', ')}${others > 0 ? ` and ${count(others)} more` : ''}`;
  const end =
    all === 1
      ? 'It is in quarantine, and the service stamps it'
      : 'They are in quarantine, and the service stamps them';
  return `${things(all)} could not be stamped (${names}): ${causes.join('; ')}. ${end} as soon as it can: see "status".`;
}

function things(number: number): string {
  return `${count(number)} ${number === 1 ? 'record or hard delete' : 'records or hard deletes'}`;
}
