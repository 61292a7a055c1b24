import mongoose, { type mongo } from 'mongoose';
import { FatalError, literal, shown } from '../platform/common/index.js';
import { SAFE_BSON } from '../platform/database/plain.js';
import { allows, etagOf, type InputError, Problem, problems } from '../platform/http/plain.js';
import { documentOf, type Tenant } from '../record/index.js';
import { type Actor, type AuditedAction, trailEntry, writeTrail } from '../trail/plain.js';
import type { Credential, Scope } from '../auth/index.js';
import { covers } from '../auth/plain.js';

/** Maximum number of changes that one database command records. Other requests are served between commands. */
const PORTION = 1000;

/** Runs a trial of a filter when its turn comes; undefined if MongoDB has not finished it within `ms`. */
export type FilterTurn = <T extends object>(
  of: Tenant,
  work: () => Promise<T>,
  ms: number,
) => Promise<T | undefined>;

/** The context of a configuration change: the database, the actor, and the retention of the audit trail in days. */
export interface ChangeContext {
  db: mongo.Db;
  actor: Actor;
  auditTrailDays: number;
  /** Schedules filter trials; without it, they run at once. */
  turn?: FilterTurn;
  /** Reads the kinds of the database again. Absent in a command, which reads them when it opens the database. */
  readKinds?: () => Promise<void>;
}

/** Records a change in the audit trail, before the caller is answered. */
export function recordAction(changeContext: ChangeContext, audited: AuditedAction): Promise<void> {
  return recordActions(changeContext, [audited]);
}

/** Records several changes, in the transaction of the session if one is given. */
export async function recordActions(
  { db, actor, auditTrailDays }: ChangeContext,
  auditedAll: AuditedAction[],
  session?: mongo.ClientSession,
): Promise<void> {
  for (let first = 0; first < auditedAll.length; first += PORTION) {
    const portion = auditedAll.slice(first, first + PORTION);
    await writeTrail(
      db,
      portion.map((audited) => trailEntry(actor, audited, auditTrailDays)),
      session,
    );
  }
}

/**
 * A refused change. The administration API answers with its problem. Commands print its message, which is the detail of the
 * problem by default.
 */
export class Refused extends FatalError {
  constructor(
    readonly problem: Problem,
    message = problem.detail,
  ) {
    super(message);
    this.name = 'Refused';
  }
}

/** A 400 with one sentence, and the pointer to the invalid value in the body if there is one. */
export function invalid(detail: string, pointer?: string): Refused {
  return notValid(detail, pointer === undefined ? [] : [{ pointer, detail }]);
}

/** A 400 for a parameter of the path. */
export function invalidParameter(parameter: string, detail: string): Refused {
  return notValid(detail, [{ parameter, detail }]);
}

function notValid(detail: string, errors: InputError[]): Refused {
  return new Refused(new Problem(400, 'invalid-request', 'The request is not valid', detail, { errors }));
}

/** A 400 for the value at a pointer. */
export function invalidAt(pointer: string, detail: string): Refused {
  return invalid(`${pointer} ${detail}`, pointer);
}

/** A 400 for a time in the body that must be in the future. */
export function isPast(name: string): Refused {
  return invalid(`${name} is in the past.`, `/${name}`);
}

export function unknownApplication(name: string): Refused {
  return unknown('application', `There is no application ${shown(name)}`);
}

export function unknownKind(name: string): Refused {
  return unknown('kind', `There is no kind "${shown(name)}"`);
}

export function unknownService(name: string): Refused {
  return unknown('service', `There is no ${name}`);
}

export function unknownCredential(username: string): Refused {
  return unknown('credential', `There is no credential "${shown(username)}"`);
}

/** A 409 for a name that is already in use. */
export function taken(detail: string, message?: string): Refused {
  return new Refused(new Problem(409, 'name-taken', 'The name is taken', detail), message);
}

/** A 409 for a user name that is unavailable for a reason that the caller may not see. */
export function usernameUnavailable(username: string): Refused {
  const detail = `The user name "${username}" is not available. Choose another one, such as "${username}-2".`;
  return new Refused(new Problem(409, 'name-unavailable', 'The user name is not available', detail));
}

/** A 409 for the removal of something that is still in use. */
export function inUse(detail: string, message: string): Refused {
  return new Refused(new Problem(409, 'in-use', 'It is still in use', detail), message);
}

/** The problem of a refusal, for the exception filter that turns errors into answers. */
export function administrationProblem(error: unknown): Problem | undefined {
  return error instanceof Refused ? error.problem : undefined;
}

function unknown(thing: string, sentence: string): Refused {
  const problem = new Problem(404, `unknown-${thing}`, `Unknown ${thing}`, `${sentence}.`);
  return new Refused(problem, `${sentence}: see "${thing} list".`);
}

const { BSON } = mongoose.mongo;

/** Numbers keep their BSON type, so that the document can be compared with the stored one. */
const AS_STORED = { ...SAFE_BSON, promoteValues: false, promoteLongs: false, promoteBuffers: false } as const;
/** How long a change is repeated while other writers are faster, in ms. The request would be answered 503 later. */
const REPEATED_MS = 4000;

/** A stored document of the configuration, with its entity tag. */
export interface TaggedDocument {
  _id: unknown;
  etag: string;
  /** Its values as the driver reads them. */
  document: mongo.Document;
  /** A query that matches the document only while it is unchanged, for conditional updates. */
  isUnchanged: mongo.Document;
}

/** The one matching document, in the transaction of the session if one is given; undefined without a match. */
export async function readStored(
  collection: mongo.Collection,
  which: mongo.Filter<mongo.Document>,
  session?: mongo.ClientSession,
): Promise<TaggedDocument | undefined> {
  const options = { raw: true, ...(session && { session }) };
  const raw = (await collection.findOne(which, options)) as unknown as Uint8Array | null;
  if (raw === null) return undefined;
  const document = documentOf(raw);
  const _id: unknown = document['_id'];
  return { _id, etag: etagOf(raw), document, isUnchanged: { _id, $expr: isSame(raw) } };
}

/**
 * Whether a document is as it was read. Of a property that the driver cannot send back as it is stored, such as one of two
 * with the same name, only the size is compared.
 */
function isSame(raw: Uint8Array): mongo.Document {
  const exact = readExactly(raw);
  if (exact !== undefined) return { $eq: ['$$ROOT', literal(exact)] };
  const known = new Map<string, unknown>();
  const seen = new Set<string>();
  for (const [, nameAt, nameLength, at, length] of BSON.onDemand.parseToElements(raw)) {
    const name = Buffer.from(raw.subarray(nameAt, nameAt + nameLength)).toString();
    const alone = Buffer.concat([Buffer.alloc(4), raw.subarray(nameAt - 1, at + length), Buffer.of(0)]);
    alone.writeInt32LE(alone.length);
    const property = readExactly(alone);
    if (property === undefined || seen.has(name)) known.delete(name);
    else known.set(name, property[name]);
    seen.add(name);
  }
  const areSame = [...known].map(([name, value]) => ({
    $eq: [{ $getField: { field: literal(name), input: '$$ROOT' } }, literal(value)],
  }));
  return { $and: [...areSame, { $eq: [{ $bsonSize: '$$ROOT' }, raw.length] }] };
}

/** Undefined if the driver refuses a value, or would send it back as another one. */
function readExactly(raw: Uint8Array): mongo.Document | undefined {
  try {
    const document = BSON.deserialize(raw, { ...AS_STORED, validation: { utf8: false } });
    return Buffer.compare(BSON.serialize(document, { ignoreUndefined: false }), raw) === 0
      ? document
      : undefined;
  } catch (error) {
    if (error instanceof BSON.BSONError) return undefined;
    throw error;
  }
}

/**
 * Changes a document with `write`, and returns the document as it was before. `write` must change the document that
 * `isUnchanged` matches, and return the number of changed documents: 0 if another writer was faster. Then everything is
 * {@link repeated}. Throws the error of `unknown` if the document does not exist, and 412 if its entity tag does not match
 * `ifMatch`. With a session, `write` must use it too.
 */
export async function changeStored(
  collection: mongo.Collection,
  which: mongo.Filter<mongo.Document>,
  {
    ifMatch,
    unknown,
    session,
  }: { ifMatch?: string | undefined; unknown: () => Error; session?: mongo.ClientSession | undefined },
  write: (isUnchanged: mongo.Document, stored: TaggedDocument) => Promise<number>,
): Promise<TaggedDocument> {
  return repeated(async () => {
    const stored = await readStored(collection, which, session);
    if (stored === undefined) throw unknown();
    if (!allows(ifMatch, stored.etag)) throw new Refused(problems.stale(ifMatch));
    return (await write(stored.isUnchanged, stored)) > 0 ? stored : undefined;
  });
}

/** Repeats a change that returns undefined because another writer was faster. Throws 503 after {@link REPEATED_MS}. */
export async function repeated<T>(change: () => Promise<T | undefined>): Promise<T> {
  const ends = performance.now() + REPEATED_MS;
  do {
    const done = await change();
    if (done !== undefined) return done;
  } while (performance.now() < ends);
  throw new Refused(problems.queryTimeout({ isOfTransaction: true }));
}

/** Throws 412 unless `If-Match` allows a change of this document. For a change that writes nothing. */
export function assertMatches({ etag }: Pick<TaggedDocument, 'etag'>, ifMatch: string | undefined): void {
  if (!allows(ifMatch, etag)) throw new Refused(problems.stale(ifMatch));
}

const EVERY = '*';

/** Throws 404 if the caller does not cover the application, as if it did not exist. */
export function assertCovers({ scopes }: Credential, { organizationid, appid }: Tenant): void {
  if (!covers(scopes, organizationid, appid)) throw unknownApplication(`${organizationid}/${appid}`);
}

export function coversAll({ scopes }: Pick<Credential, 'scopes'>): boolean {
  return covers(scopes, EVERY, EVERY);
}

/** A 403 for a request that only a credential without limits may make. */
export function scopeTooNarrow(): Refused {
  const detail = 'This request requires a credential whose scopes cover every organization and application.';
  return new Refused(new Problem(403, 'out-of-scope', 'The scope is too narrow', detail));
}

/** Throws 403 if there is an application that the caller does not cover. */
export function assertCoversAll(caller: Pick<Credential, 'scopes'>): void {
  if (!coversAll(caller)) throw scopeTooNarrow();
}

/** Whether the caller covers every scope of a stored credential. Callers see only such credentials. */
export function coversCredential(caller: Pick<Credential, 'scopes'>, stored: { scopes?: unknown }): boolean {
  if (coversAll(caller)) return true;
  const scopes = scopesOf(stored);
  return (
    scopes.length > 0 &&
    scopes.every(
      (scope) =>
        typeof scope?.organizationid === 'string' &&
        typeof scope.appid === 'string' &&
        covers(caller.scopes, scope.organizationid, scope.appid),
    )
  );
}

/** Throws 403 if the scopes exceed those of the caller. */
export function assertGives(caller: Credential, scopes: Scope[]): void {
  if (!coversCredential(caller, { scopes })) throw new Refused(problems.outOfScope());
}

/** The organizations that the caller covers completely; undefined means all. */
export function organizationsOf(caller: Credential): string[] | undefined {
  if (coversAll(caller)) return undefined;
  return organizationsIn(scopesOf(caller).filter((scope) => scope?.appid === EVERY));
}

/** The organizations in which the caller covers at least one application; undefined means any. */
export function organizationsTouched(caller: Pick<Credential, 'scopes'>): string[] | undefined {
  const touched = organizationsIn(scopesOf(caller));
  return touched.includes(EVERY) ? undefined : touched;
}

/** Operators write credentials by hand, so a scope can be any value. */
function scopesOf({ scopes }: { scopes?: unknown }): (Partial<Scope> | null | undefined)[] {
  return Array.isArray(scopes) ? (scopes as (Partial<Scope> | null)[]) : [];
}

function organizationsIn(scopes: (Partial<Scope> | null | undefined)[]): string[] {
  return scopes.map((scope) => scope?.organizationid).filter((one) => typeof one === 'string');
}
