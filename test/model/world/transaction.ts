import type { mongo } from 'mongoose';
import type { FilterVersionChange } from '../../../src/replication/protocol/filter-version.js';
import { type Identity, identityKey } from '../../../src/replication/protocol/identity.js';
import type { WatchedEvent } from '../../../src/replication/protocol/events.js';
import {
  fenceAfterRaise,
  type MarkKey,
  markName,
  type StoredMoment,
} from '../../../src/replication/protocol/marks.js';
import { concernKey } from '../../../src/replication/store/quarantine.js';
import {
  entryId,
  recordUnder,
  type ModelState,
  type StoredAside,
  type StoredLease,
  type StoredPartial,
  type ModelRecord,
  type ModelService,
} from './documents.js';
import type { KnownEntry } from '../twins/entry-after.js';
import { deletion, insertion, update, type When } from './events.js';
import { RefusedEntry, RefusedStamp } from './refusals.js';
import { placeIn } from './time.js';

type Collection = Exclude<keyof ModelState, 'lease' | 'horizon'>;

/** One atomic write of any number of documents: it has one cluster time, which all of its events share. */
export class Transaction {
  readonly events: WatchedEvent[] = [];
  readonly state: ModelState;
  isDirty = false;
  private readonly copied = new Set<Collection>();

  constructor(
    state: ModelState,
    readonly at: mongo.Timestamp,
    private readonly refused: ReadonlySet<string>,
  ) {
    this.state = { ...state };
  }

  /** Where the next event stands. */
  private get when(): When {
    return { at: this.at, place: placeIn(this.at, this.events.length) };
  }

  /** False where a record stands under that identity already, as the unique index has it. */
  insert(record: ModelRecord): boolean {
    if (this.isTaken(record) || this.state.records.has(record.key)) return false;
    this.put('records', record.key, record);
    this.events.push(insertion(record, this.when));
    return true;
  }

  /** A change of single fields; false where that breaks the unique index. What changes nothing is no event. */
  update(record: ModelRecord, after: ModelRecord): boolean {
    if (this.isTaken(after)) return false;
    const event = update(record, after, this.when);
    if (event === undefined) return true;
    this.put('records', record.key, after);
    this.events.push(event);
    return true;
  }

  /** A stamp of the service's own, `above` a time if it has to lie there. Throws where the database refuses it. */
  stamp(record: ModelRecord, lastupdated: Date, above?: Date): void {
    if (this.refused.has(record.key)) throw new RefusedStamp(record._id, above);
    this.update(record, { ...record, lastupdated });
  }

  /** The record as a whole anew; false where that breaks the unique index. */
  replace(after: ModelRecord): boolean {
    if (this.isTaken(after)) return false;
    this.put('records', after.key, after);
    this.events.push(insertion(after, this.when));
    return true;
  }

  remove(record: ModelRecord): void {
    this.drop('records', record.key);
    this.events.push(deletion(record, this.when));
  }

  /** Other records, or none, in place of all that were there: no event tells of any of them. */
  loseCollection(what: 'drop' | 'rename', records: ModelRecord[]): void {
    this.isDirty = true;
    Object.assign(this.state, { records: new Map(records.map((record) => [record.key, record])) });
    this.events.push({ type: 'collectionLost', ...this.when, what, collection: 'members' });
  }

  /** Throws where the ledger refuses it. */
  writeEntry(identity: Identity, known: KnownEntry): void {
    const name = identityKey(identity);
    if (this.refused.has(name)) throw new RefusedEntry();
    const before = this.state.ledger.get(name);
    const _id = entryId(identity);
    this.put('ledger', name, { ...known, _id, key: _id.toHexString(), identity });
    const stamp = known.lastupdated;
    const isSeen = stamp !== undefined && stamp.getTime() !== before?.lastupdated?.getTime();
    if (isSeen) this.events.push({ type: 'tombstone', ...this.when, entry: _id, stamp });
  }

  keepIncomplete(name: string, partial: StoredPartial): void {
    this.put('incomplete', name, partial);
  }

  forgetIncomplete(name: string): void {
    if (this.state.incomplete.has(name)) this.drop('incomplete', name);
  }

  setAside(entry: StoredAside): void {
    this.put('quarantine', concernKey(entry._id), entry);
  }

  settle({ _id }: StoredAside): void {
    this.drop('quarantine', concernKey(_id));
  }

  removeEntry(identity: Identity): void {
    this.drop('ledger', identityKey(identity));
  }

  raise(mark: MarkKey, clock: Date): Date {
    const before = this.state.marks.get(markName(mark));
    const fence = fenceAfterRaise(before?.fence, clock);
    this.put('marks', markName(mark), { fence, raises: (before?.raises ?? 0) + 1 });
    this.events.push({ type: 'announced', ...this.when, mark, fence });
    return fence;
  }

  recordMoment(moment: StoredMoment): void {
    this.put('moments', `${moment.fence.getTime()} ${moment.at.toBigInt()}`, moment);
  }

  writeService(name: string, service: ModelService | undefined): void {
    if (service === undefined) this.drop('services', name);
    else this.put('services', name, service);
    this.events.push({ type: 'services', ...this.when });
  }

  writeEffective(name: string, entry: FilterVersionChange | undefined): void {
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

  writeHead(appid: string, head: Date): void {
    if (this.state.heads.get(appid)?.getTime() !== head.getTime()) this.put('heads', appid, head);
  }

  /** The unique index holds texts only. */
  private isTaken(record: ModelRecord): boolean {
    if (record.isNumber) return false;
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
