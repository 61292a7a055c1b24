import { Injectable, Logger } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import { type Model, mongo } from 'mongoose';
import { literal } from '../../common/index.js';
import { type Identity, identityOf } from '../ledger/index.js';
import type { WatchedEvent } from '../log/index.js';
import { type Concern, QUARANTINE_MODEL, type SetAside } from './set-aside.schema.js';

const LONGEST_REASON = 500;
const LONGEST_PAUSE_S = 300;
const AT_ONCE = 100;
const MOST_IDENTITIES = 100;
const LONGEST_IDENTITY = 4096;

/** The events that were set aside, so that they stop nobody else. */
@Injectable()
export class Quarantine {
  private readonly log = new Logger('Watcher');

  /** Whether there may be anything: unknown at first. Only the leader sets aside, so it knows of everything since. */
  mayHaveEntries = true;

  constructor(@InjectModel(QUARANTINE_MODEL) private readonly model: Model<SetAside>) {}

  private get entries(): mongo.Collection<SetAside> {
    return this.model.collection as unknown as mongo.Collection<SetAside>;
  }

  /** Another leader may have set something aside. */
  beginTerm(): void {
    this.mayHaveEntries = true;
  }

  async setAsideEvent(event: WatchedEvent, error: unknown): Promise<void> {
    const concern = concernOf(event);
    if (concern !== undefined) {
      await this.setAside(concern, 'an event', error);
      if (event.type === 'written')
        await this.remember(concern, identityOf(event.kind, event.owner, event.identity));
      return;
    }
    this.log.error({ err: error as Error }, `An event cannot be worked through and is left: ${event.type}`);
  }

  /** What something is about is looked after from now on; `during` says where it failed. */
  async setAside(concern: Concern, during: string, error: unknown): Promise<void> {
    const reason = reasonOf(error);
    this.log.error({ err: error as Error }, `Set aside, since ${during} failed: ${nameOf(concern)}`);
    await this.entries.updateOne(
      { _id: concern },
      [
        {
          $set: {
            reason: literal(reason),
            since: { $ifNull: ['$since', '$$NOW'] },
            events: { $add: [{ $ifNull: ['$events', 0] }, 1] },
            tries: { $ifNull: ['$tries', 0] },
            due: { $ifNull: ['$due', '$$NOW'] },
          },
        },
      ],
      { upsert: true },
    );
    this.mayHaveEntries = true;
  }

  /** A record that is set aside is this to consumers. An identity of many kilobytes would not fit in beside others. */
  async remember(_id: Concern, identity: Identity | undefined): Promise<void> {
    if (identity === undefined || mongo.BSON.calculateObjectSize(identity) > LONGEST_IDENTITY) return;
    const input = { $ifNull: ['$identities', []] };
    const others = { $filter: { input, cond: { $ne: ['$$this', literal(identity)] } } };
    const all = { $concatArrays: [others, [literal(identity)]] };
    await this.entries.updateOne({ _id }, [{ $set: { identities: { $slice: [all, -MOST_IDENTITIES] } } }]);
  }

  /** What is to be looked after by now. */
  async due(clock: Date): Promise<SetAside[]> {
    this.mayHaveEntries = false;
    const entries = await this.entries.find({}, { sort: { due: 1 }, limit: AT_ONCE }).toArray();
    if (entries.length > 0) this.mayHaveEntries = true;
    return entries.filter(({ due }) => due <= clock);
  }

  /** It is looked after; where more of its events were set aside meanwhile, it stays. */
  async settle({ _id, events }: SetAside): Promise<void> {
    await this.entries.deleteOne({ _id, events });
  }

  /** It was looked after in vain, and is again after a pause that doubles each time, up to five minutes. */
  async postpone({ _id, tries }: SetAside, clock: Date, error: unknown): Promise<void> {
    const seconds = Math.min(2 ** tries, LONGEST_PAUSE_S);
    const due = new Date(clock.getTime() + seconds * 1000);
    await this.entries.updateOne({ _id }, { $set: { due, reason: reasonOf(error) }, $inc: { tries: 1 } });
  }
}

/** Nothing is behind an announcement but a moment, and another follows; strangers are delivered to nobody. */
function concernOf(event: WatchedEvent): Concern | undefined {
  switch (event.type) {
    case 'written':
    case 'deleted':
      return event.owner instanceof mongo.ObjectId
        ? { what: 'record', kind: event.kind, owner: event.owner }
        : undefined;
    case 'tombstone':
      return { what: 'tombstone', owner: event.entry };
    case 'services':
      return { what: 'services' };
    case 'announced':
    case 'collectionLost':
      return undefined;
  }
}

function nameOf(concern: Concern): string {
  if (concern.what === 'services') return 'the services';
  const what = concern.what === 'record' ? concern.kind : 'hard delete';
  return `${what} ${concern.owner.toHexString()}`;
}

function reasonOf(error: unknown): string {
  return String((error as Error | undefined)?.message ?? error).slice(0, LONGEST_REASON);
}
