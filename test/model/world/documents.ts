import mongoose, { type mongo } from 'mongoose';
import type { FilterVersionChange } from '../../../src/replication/protocol/filter-version.js';
import {
  type Identity,
  identityKey,
  type PartialIdentity,
} from '../../../src/replication/protocol/identity.js';
import type { StoredMoment } from '../../../src/replication/protocol/marks.js';
import type { LogPlace } from '../../../src/replication/protocol/place.js';
import type { SetAside } from '../../../src/replication/store/collections.schema.js';
import type { KnownEntry } from '../twins/entry-after.js';

export const KIND = 'member';
export const ORGANIZATION = 'o';

/** The application whose records consumers harvest; others are there to be moved to and from, or have consumers of their own. */
export const APPLICATION = 'a';

export const APPLICATIONS = [APPLICATION, 'b', 'c'] as const;

export type Color = 'red' | 'blue';

/** A record: `color` is what filters look at, `text` a number that each change of the record makes new. */
export interface ModelRecord {
  _id: mongo.ObjectId;
  /** `_id` as text, in whose order pages come. */
  key: string;
  appid: string;
  id: string;
  /** The `id` is stored as a number. */
  isNumber?: true;
  color: Color;
  text: number;
  /** Absent where another program left it out. */
  lastupdated?: Date;
}

export interface StoredEntry extends KnownEntry {
  _id: mongo.ObjectId;
  /** `_id` as text, in whose order pages come. */
  key: string;
  identity: Identity;
}

export interface StoredMark {
  fence: Date;
  raises: number;
}

/** What was set aside; who looks after it takes all of it at any time. */
export type StoredAside = Required<Pick<SetAside, '_id' | 'entry' | 'events' | 'refusals' | 'identities'>> &
  Pick<SetAside, 'above' | 'known'>;

export interface ModelService {
  filter: Record<string, unknown>;
  enabled: boolean;
}

/** An application that is aside: how far its lane has come, as a token and as a cluster time; neither while a pass of its own is due. */
export interface StoredLane {
  place?: number;
  watched?: mongo.Timestamp;
  /** The end of the last pass of its own. */
  since?: mongo.Timestamp;
  pass?: StoredPass;
}

/** A pass of one application. */
export interface StoredPass {
  isRepair: boolean;
  /** Whether the ledger was empty when the pass over everything began that has left the application to this one. */
  isBare?: boolean;
  reached?: ModelPassPlace;
}

/** Where a pass goes on that was cut off: as of where its stream was opened, and how far that is worked through. */
export interface ModelPassPlace {
  at: LogPlace;
  token: number;
  watched: mongo.Timestamp;
  step: number;
  /** Up to which document the step is done. */
  behind: string;
}

/** What is known of a record that the ledger does not know. */
export type StoredPartial = PartialIdentity & { record: string };

/** The one document of `leases`. The token is the number of events worked through. */
export interface StoredLease {
  term: number;
  isHeld: boolean;
  token?: number;
  watched?: mongo.Timestamp;
  since?: mongo.Timestamp;
  pass?: string;
  /** The applications that are aside. */
  lanes?: ReadonlyMap<string, StoredLane>;
  /** Present if an operator has created the kind: the end of the pass over its records, or the pass that is begun. */
  kind?: { since?: mongo.Timestamp; pass?: { isRepair: boolean } };
}

/** The whole database at one moment; never changed, only replaced. */
export interface ModelState {
  /** By `key`. */
  records: ReadonlyMap<string, ModelRecord>;
  /** By identity. */
  ledger: ReadonlyMap<string, StoredEntry>;
  /** What is known of records that the ledger does not know, by `key`, and by application where there are lanes. */
  incomplete: ReadonlyMap<string, StoredPartial>;
  /** By what it is about. */
  quarantine: ReadonlyMap<string, StoredAside>;
  /** By the name of the mark. */
  marks: ReadonlyMap<string, StoredMark>;
  /** By fence and place in the log, so that a moment recorded twice is one. */
  moments: ReadonlyMap<string, StoredMoment>;
  /** By name. */
  services: ReadonlyMap<string, ModelService>;
  /** By name. */
  effective: ReadonlyMap<string, FilterVersionChange>;
  lease: StoredLease;
  /** The greatest stamp of a hard delete of the application that is gone, or about to go. */
  horizon?: Date;
  /** The head of each application: the greatest stamp that the watcher has seen since its mark is raised. */
  heads: ReadonlyMap<string, Date>;
}

export const EMPTY: ModelState = {
  records: new Map(),
  ledger: new Map(),
  incomplete: new Map(),
  quarantine: new Map(),
  marks: new Map(),
  moments: new Map(),
  services: new Map(),
  effective: new Map(),
  heads: new Map(),
  lease: { term: 0, isHeld: false },
};

const FEW = ['x', 'y', 'z'];
const MANY = Array.from({ length: 40 }, (_, index) => `m${index}`);

/** All that a record can be here; a replayed event can make the watcher believe in any of them. */
const IDENTITIES = APPLICATIONS.flatMap((appid) =>
  [...FEW, 'stop', ...MANY].map((id): Identity => ({ kind: KIND, organizationid: ORGANIZATION, appid, id })),
);
const NUMBERS = new Map(IDENTITIES.map(({ appid, id }, index) => [`${appid}/${id}`, index]));

/** Under which identities records come and go: few, so that they meet. */
export const PLACES = [
  ...FEW.map((id) => identityOf({ appid: APPLICATION, id })),
  identityOf({ appid: 'b', id: 'x' }),
];

/** The same over three applications. */
export const LANE_PLACES = [
  identityOf({ appid: 'a', id: 'x' }),
  identityOf({ appid: 'a', id: 'y' }),
  identityOf({ appid: 'b', id: 'x' }),
  identityOf({ appid: 'c', id: 'x' }),
];

/** So many that most are new when a record comes. */
export const MANY_PLACES = MANY.map((id) => identityOf({ appid: APPLICATION, id }));

/** The same over three applications. */
export const MANY_LANE_PLACES = MANY.flatMap((id) => APPLICATIONS.map((appid) => identityOf({ appid, id })));

/** Where a record is while two are swapped. */
export const STOP = identityOf({ appid: APPLICATION, id: 'stop' });

/** What a record is to consumers. */
export function identityOf({ appid, id }: Pick<ModelRecord, 'appid' | 'id'>): Identity {
  return IDENTITIES[numberOf(appid, id)]!;
}

function numberOf(appid: string, id: string): number {
  const number = NUMBERS.get(`${appid}/${id}`);
  if (number === undefined) throw new Error(`Nobody named ${appid}/${id} lives in this world`);
  return number;
}

/** The `_id` of the ledger entry of an identity. */
export function entryId({ appid, id }: Identity): mongo.ObjectId {
  return objectId(ENTRIES + numberOf(appid, id));
}

/** The record whose `id` is this text: there is one at most. */
export function recordUnder(
  { records }: ModelState,
  { appid, id }: Pick<ModelRecord, 'appid' | 'id'>,
): ModelRecord | undefined {
  for (const record of records.values())
    if (record.appid === appid && record.id === id && !record.isNumber) return record;
  return undefined;
}

/** The records whose `id` is this text, or a number with this text. */
export function claimantsOf(
  { records }: ModelState,
  { appid, id }: Pick<ModelRecord, 'appid' | 'id'>,
): ModelRecord[] {
  return [...records.values()].filter((record) => record.appid === appid && record.id === id);
}

/** Whether consumers know a record: one with a number only while the ledger has it, as a number, as the owner of the text. */
export function isDelivered(state: ModelState, record: ModelRecord): boolean {
  if (!record.isNumber) return true;
  const entry = entryOf(state, identityOf(record));
  return entry?.alive === true && entry.isNumber === true && String(entry.owner) === record.key;
}

export function entryOf({ ledger }: ModelState, identity: Identity): StoredEntry | undefined {
  return ledger.get(identityKey(identity));
}

/** The n-th `_id` of a world. They grow. */
export function objectId(n: number): mongo.ObjectId {
  const known = ids.get(n) ?? new mongoose.mongo.ObjectId(n.toString(16).padStart(24, '0'));
  ids.set(n, known);
  return known;
}

/** The `_id` that tells an entry of the quarantine from others, made or not: the n-th. */
export function asideId(n: number): mongo.ObjectId {
  return objectId(ASIDE + n);
}

const ENTRIES = 100_000;
const ASIDE = 200_000;
const ids = new Map<number, mongo.ObjectId>();
