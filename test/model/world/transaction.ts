import type { mongo } from 'mongoose';
import type { EffectiveChange } from '../../../src/replication/effective/effective.js';
import type { Known } from '../twins/entry-after.js';
import { type Identity, identityKey } from '../../../src/replication/ledger/ledger.js';
import type { MarkKey } from '../../../src/replication/mark/mark.js';
import { markName } from '../../../src/replication/mark/mark.js';
import type { StoredMoment } from '../../../src/replication/mark/moment.js';
import type { WatchedEvent } from '../../../src/replication/watcher/events.js';
import { deletion, insertion, update, type When } from './events.js';
import {
  entryId,
  recordUnder,
  type State,
  type StoredLease,
  type StoredRecord,
  type StoredService,
} from './documents.js';
import { placeIn } from './time.js';

type Collection = Exclude<keyof State, 'lease' | 'horizon'>;

/** One atomic write of any number of documents: it has one cluster time, which all of its events share. */
export class Transaction {
  readonly events: WatchedEvent[] = [];
  readonly state: State;
  isDirty = false;
  private readonly copied = new Set<Collection>();

  constructor(
    state: State,
    readonly at: mongo.Timestamp,
  ) {
    this.state = { ...state };
  }

  /** Where the next event stands. */
  private get when(): When {
    return { at: this.at, place: placeIn(this.at, this.events.length) };
  }

  /** False where a record stands under that identity already, as the unique index has it. */
  insert(record: StoredRecord): boolean {
    if (this.isTaken(record) || this.state.records.has(record.key)) return false;
    this.put('records', record.key, record);
    this.events.push(insertion(record, this.when));
    return true;
  }

  /** A change of single fields; false where that breaks the unique index. What changes nothing is no event. */
  update(record: StoredRecord, after: StoredRecord): boolean {
    if (this.isTaken(after)) return false;
    const event = update(record, after, this.when);
    if (event === undefined) return true;
    this.put('records', record.key, after);
    this.events.push(event);
    return true;
  }

  /** The record as a whole anew; false where that breaks the unique index. */
  replace(after: StoredRecord): boolean {
    if (this.isTaken(after)) return false;
    this.put('records', after.key, after);
    this.events.push(insertion(after, this.when));
    return true;
  }

  remove(record: StoredRecord): void {
    this.drop('records', record.key);
    this.events.push(deletion(record, this.when));
  }

  /** Other records, or none, in place of all that were there: no event tells of any of them. */
  upheave(what: 'drop' | 'rename', records: StoredRecord[]): void {
    this.isDirty = true;
    Object.assign(this.state, { records: new Map(records.map((record) => [record.key, record])) });
    this.events.push({ type: 'upheaval', ...this.when, what, collection: 'members' });
  }

  writeEntry(identity: Identity, known: Known): void {
    const name = identityKey(identity);
    const before = this.state.ledger.get(name);
    const _id = entryId(identity);
    this.put('ledger', name, { ...known, _id, key: _id.toHexString(), identity });
    const stamp = known.lastupdated;
    const isSeen = stamp !== undefined && stamp.getTime() !== before?.lastupdated?.getTime();
    if (isSeen) this.events.push({ type: 'tombstone', ...this.when, entry: _id, stamp });
  }

  removeEntry(identity: Identity): void {
    this.drop('ledger', identityKey(identity));
  }

  raise(mark: MarkKey, clock: Date): Date {
    const before = this.state.marks.get(markName(mark));
    const fence = before !== undefined && before.fence > clock ? before.fence : clock;
    this.put('marks', markName(mark), { fence, raises: (before?.raises ?? 0) + 1 });
    this.events.push({ type: 'announced', ...this.when, mark, fence });
    return fence;
  }

  recordMoment(moment: StoredMoment): void {
    this.put('moments', `${moment.fence.getTime()} ${moment.at.toBigInt()}`, moment);
  }

  writeService(name: string, service: StoredService | undefined): void {
    if (service === undefined) this.drop('services', name);
    else this.put('services', name, service);
    this.events.push({ type: 'services', ...this.when });
  }

  writeEffective(name: string, entry: EffectiveChange | undefined): void {
    if (entry === undefined) this.drop('effective', name);
    else this.put('effective', name, entry);
  }

  writeLease(lease: StoredLease): void {
    this.isDirty = true;
    this.state.lease = lease;
  }

  /** It only moves forward. */
  moveHorizon(to: Date): void {
    const { horizon } = this.state;
    if (horizon !== undefined && horizon >= to) return;
    this.isDirty = true;
    this.state.horizon = to;
  }

  private isTaken(record: StoredRecord): boolean {
    const other = recordUnder(this.state, record);
    return other !== undefined && other.key !== record.key;
  }

  private put(name: Collection, key: string, value: unknown): void {
    this.edited(name).set(key, value);
  }

  private drop(name: Collection, key: string): void {
    this.edited(name).delete(key);
  }

  private edited(name: Collection): Map<string, unknown> {
    this.isDirty = true;
    if (!this.copied.has(name)) {
      Object.assign(this.state, { [name]: new Map<string, unknown>(this.state[name]) });
      this.copied.add(name);
    }
    return this.state[name] as Map<string, unknown>;
  }
}
