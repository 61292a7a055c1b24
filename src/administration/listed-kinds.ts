import type { mongo } from 'mongoose';
import { exactly, textOf } from '../platform/common/index.js';
import { etagOf } from '../platform/http/plain.js';
import {
  BUILT_IN_KINDS,
  describedKind,
  documentKey,
  isBuiltIn,
  type Kind,
  type KindDocument,
  kindFaults,
  kindFields,
  KINDS,
} from '../kinds/index.js';
import { documentOf, MOST_KINDS } from '../record/index.js';
import { type KindProgress, shareKnown, WATCHER, type WatchState } from '../replication/protocol/index.js';
import { LEASES } from '../replication/store/plain.js';
import { readStored, unknownKind } from './changes.js';
import { LISTING } from './listed-services.js';

/**
 * Maximum number of kinds that are listed. There may be more than the {@link MOST_KINDS} that are served, because other
 * programs also write to the collection.
 */
const MOST_LISTED = 200;

/**
 * `ready`: the kind is served. `preparing`: a pass over its records, the first one or one after its collection was
 * lost, has not ended, and its feeds answer 503. `not valid`: it is not served, because its document cannot be used.
 */
type KindState = 'ready' | 'preparing' | 'not valid';

/** A kind as operators see it. */
export interface ListedKind extends Required<Omit<KindDocument, 'organizationid' | 'appid'>> {
  organizationid?: string;
  appid?: string;
  isBuiltIn: boolean;
  state: KindState;
  /** The fraction of the pass over its records that is done, 0 to 1; null if it is unknown, or if no pass is due. */
  share: number | null;
  /** Why the document cannot be used, or why the pass over its records cannot begin. */
  fault?: string | undefined;
}

/** All kinds: those that are built in first, the others in the order of their creation. */
export async function listKinds(db: mongo.Db, session?: mongo.ClientSession): Promise<ListedKind[]> {
  const stored = await storedKinds(db, session);
  const passes = await passesIn(db);
  return [...BUILT_IN_KINDS.map(builtInKind), ...stored.map((one) => listed(one, passes))];
}

/** Reads a kind with its entity tag. Throws 404. */
export async function readKind(db: mongo.Db, name: string): Promise<{ kind: ListedKind; etag: string }> {
  if (isBuiltIn(name)) {
    const kind = builtInKind(name);
    return { kind, etag: etagOf(Buffer.from(JSON.stringify(kind))) };
  }
  const found = await readStored(kindsOf(db), { name: exactly(name) });
  const one = (await storedKinds(db)).find(({ _id }) => textOf(_id) === textOf(found?._id));
  if (found === undefined || one === undefined) throw unknownKind(name);
  return { kind: listed(one, await passesIn(db)), etag: found.etag };
}

/** A stored document of a kind. `fault`: why it cannot be used, as a sentence; undefined if it can. */
export interface StoredKind {
  _id: unknown;
  kind: KindDocument;
  fault: string | undefined;
}

/**
 * The stored documents in the order of their creation. Values can have any type, because operators can also write these
 * documents directly.
 */
export async function storedKinds(db: mongo.Db, session?: mongo.ClientSession): Promise<StoredKind[]> {
  const documents = await kindsOf(db)
    .find({}, { ...LISTING, sort: { _id: 1 }, limit: MOST_LISTED, raw: true, ...(session && { session }) })
    .toArray();
  const valid: KindDocument[] = [];
  return documents.map((raw, index) => {
    const { _id, ...fields } = documentOf(raw);
    const kind = kindFields(fields as unknown as KindDocument);
    const [first] = kindFaults(kind);
    const fault =
      first === undefined ? faultBeside(kind, valid, index >= MOST_KINDS) : `${first.field} ${first.detail}`;
    if (fault === undefined) valid.push(kind);
    return { _id: _id as unknown, kind, fault };
  });
}

/** Why a kind cannot be served beside the earlier ones. */
function faultBeside(
  { name, collection }: KindDocument,
  earlier: KindDocument[],
  isBeyond: boolean,
): string | undefined {
  if (isBeyond) return `the maximum of ${MOST_KINDS} kinds is exceeded.`;
  if (earlier.some((one) => one.name === name))
    return `name "${name}" is already used by an earlier document.`;
  const owner = earlier.find((one) => one.collection === collection);
  return owner && `collection "${collection}" is already used by the kind "${owner.name}".`;
}

export function kindsOf(db: mongo.Db): mongo.Collection {
  return db.collection(KINDS);
}

function builtInKind(name: Kind): ListedKind {
  const { collection, plural, alwaysHasChannels: channels } = describedKind(name);
  const fields = { name, collection, plural, id: 'id', lastupdated: 'lastupdated', channels, data: true };
  return { ...fields, isBuiltIn: true, state: 'ready', share: null };
}

/** The stored progress of the passes over created kinds. */
async function passesIn(db: mongo.Db): Promise<KindProgress[]> {
  const leases = db.collection<WatchState>(LEASES);
  const state = await leases.findOne({ _id: WATCHER }, { projection: { kinds: 1 } });
  const list: unknown = state?.kinds;
  return Array.isArray(list) ? (list as (KindProgress | null)[]).filter((one) => one !== null) : [];
}

function listed({ _id, kind, fault }: StoredKind, passes: KindProgress[]): ListedKind {
  const { name, collection, plural = `${textOf(name)}s`, id = 'id', lastupdated = 'lastupdated' } = kind;
  const { organizationid, appid, channels = false, data = true } = kind;
  const own = passes.find((one) => one.kind === name && one.document === documentKey(_id, kind));
  return {
    ...{ name, collection, plural, id, lastupdated },
    ...(organizationid !== undefined && { organizationid }),
    ...(appid !== undefined && { appid }),
    ...{ channels, data, isBuiltIn: false },
    ...standingOf(own, fault),
  };
}

function standingOf(
  progress: KindProgress | undefined,
  fault: string | undefined,
): Pick<ListedKind, 'state' | 'share' | 'fault'> {
  if (fault !== undefined) return { state: 'not valid', share: null, fault };
  if (progress?.since !== undefined) return { state: 'ready', share: null };
  const share = shareKnown(Object(progress?.pass) as object) ?? null;
  return {
    ...{ state: 'preparing', share },
    ...(progress?.fault !== undefined && { fault: progress.fault }),
  };
}
