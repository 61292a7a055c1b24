import mongoose, { type mongo } from 'mongoose';
import { FatalError, literal, shown } from '../common/index.js';
import { SAFE_BSON } from '../database/plain.js';
import { allows, etagOf, type InputError, Problem, problems } from '../http/plain.js';
import type { Tenant } from '../record/index.js';
import { type Actor, type Deed, trailEntry, writeTrail } from '../trail/plain.js';
import type { Credential, Scope } from '../auth/index.js';
import { covers } from '../auth/plain.js';

/** Changes that are recorded by one command, so that other requests are served in between. */
const PORTION = 1000;

/** Runs a trial of a filter when its turn comes; undefined if MongoDB has not finished it within `ms`. */
export type FilterTurn = <T extends object>(
  of: Tenant,
  work: () => Promise<T>,
  ms: number,
) => Promise<T | undefined>;

/** Where somebody changes the configuration: the database, who it is, and for how long that is remembered (days). */
export interface Desk {
  db: mongo.Db;
  actor: Actor;
  auditTrailDays: number;
  /** When filters may be tried there; without it, at once. */
  turn?: FilterTurn;
}

/** Records a change in the audit trail before its caller gets the answer. */
export function noteDeed(desk: Desk, deed: Deed): Promise<void> {
  return noteDeeds(desk, [deed]);
}

/** The same for several, in a transaction where one is given. */
export async function noteDeeds(
  { db, actor, auditTrailDays }: Desk,
  deeds: Deed[],
  session?: mongo.ClientSession,
): Promise<void> {
  for (let first = 0; first < deeds.length; first += PORTION) {
    const portion = deeds.slice(first, first + PORTION);
    await writeTrail(
      db,
      portion.map((deed) => trailEntry(actor, deed, auditTrailDays)),
      session,
    );
  }
}

/**
 * A change that is not made: the administration API answers its problem, commands print its message, which is the
 * problem's detail unless commands have more to say.
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

/** Something that is not right in what was sent: a sentence, at the place in the body where there is one. */
export function invalid(detail: string, pointer?: string): Refused {
  const errors: InputError[] = pointer === undefined ? [] : [{ pointer, detail }];
  return new Refused(new Problem(400, 'invalid-request', 'The request is not valid', detail, { errors }));
}

/** Something wrong at a place of what was sent. */
export function invalidAt(pointer: string, detail: string): Refused {
  return invalid(`${pointer} ${detail}`, pointer);
}

/** A time in a body that has to come still. */
export function isPast(name: string): Refused {
  return invalid(`${name} is past already.`, `/${name}`);
}

export function unknownApplication(name: string): Refused {
  return unknown('application', `There is no application ${shown(name)}`);
}

export function unknownService(name: string): Refused {
  return unknown('service', `There is no ${name}`);
}

export function unknownCredential(username: string): Refused {
  return unknown('credential', `There is no credential "${shown(username)}"`);
}

/** A name that something else has already. */
export function taken(detail: string, message?: string): Refused {
  return new Refused(new Problem(409, 'name-taken', 'The name is taken', detail), message);
}

/** A user name that cannot be given, for a reason that is not for the caller to know. */
export function usernameUnavailable(username: string): Refused {
  const detail = `The user name "${username}" is not available. Choose another one, such as "${username}-2".`;
  return new Refused(new Problem(409, 'name-unavailable', 'The user name is not available', detail));
}

/** Something that cannot be removed since something else needs it. */
export function inUse(detail: string, message: string): Refused {
  return new Refused(new Problem(409, 'in-use', 'It is still in use', detail), message);
}

/** The problem behind a refusal, for the filter that makes answers of errors. */
export function administrationProblem(error: unknown): Problem | undefined {
  return error instanceof Refused ? error.problem : undefined;
}

function unknown(thing: string, sentence: string): Refused {
  const problem = new Problem(404, `unknown-${thing}`, `Unknown ${thing}`, `${sentence}.`);
  return new Refused(problem, `${sentence}: see "${thing} list".`);
}

/** Numbers stay of the type they have, so that the document can be compared with what is stored. */
const AS_STORED = { ...SAFE_BSON, promoteValues: false, promoteLongs: false, promoteBuffers: false } as const;
const MOST_TRIES = 5;

/** A document of the configuration as it is stored, with its entity tag. */
export interface TaggedDocument {
  _id: unknown;
  etag: string;
  /** Its values as the driver reads them. */
  document: mongo.Document;
  /** The same, so that an update can demand that nothing has changed. */
  isUnchanged: mongo.Document;
}

/** The one matching document; undefined without a match. */
export async function readStored(
  collection: mongo.Collection,
  which: mongo.Filter<mongo.Document>,
): Promise<TaggedDocument | undefined> {
  const raw = (await collection.findOne(which, { raw: true })) as unknown as Uint8Array | null;
  if (raw === null) return undefined;
  const { BSON } = mongoose.mongo;
  const exact: { _id?: unknown } = BSON.deserialize(raw, { ...AS_STORED, validation: { utf8: false } });
  return {
    _id: exact._id,
    etag: etagOf(raw),
    document: BSON.deserialize(raw, { ...SAFE_BSON, validation: { utf8: false } }),
    isUnchanged: { _id: exact._id, $expr: { $eq: ['$$ROOT', literal(exact)] } },
  };
}

/**
 * Changes a document as `write` says, if it is the one that `ifMatch` names and nobody changed it meanwhile; where
 * `ifMatch` is not given, what others changed meanwhile is built upon. Throws what `unknown` makes where there is no
 * such document, and 412.
 */
export async function changeStored(
  collection: mongo.Collection,
  which: mongo.Filter<mongo.Document>,
  { ifMatch, unknown }: { ifMatch?: string | undefined; unknown: () => Error },
  write: (isUnchanged: mongo.Document, stored: TaggedDocument) => Promise<number>,
): Promise<TaggedDocument> {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const stored = await readStored(collection, which);
    if (stored === undefined) throw unknown();
    if (!allows(ifMatch, stored.etag)) break;
    if ((await write(stored.isUnchanged, stored)) > 0) return stored;
  }
  throw new Refused(problems.stale(ifMatch));
}

const EVERY = '*';

/** Throws 404 where the caller does not cover the application, as if it did not exist. */
export function assertCovers({ scopes }: Credential, { organizationid, appid }: Tenant): void {
  if (!covers(scopes, organizationid, appid)) throw unknownApplication(`${organizationid}/${appid}`);
}

export function coversAll({ scopes }: Pick<Credential, 'scopes'>): boolean {
  return covers(scopes, EVERY, EVERY);
}

/** Whether all that a stored credential opens is covered by the caller: only such a one is for the caller to see. */
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

/** Throws 403 where somebody would give others more than they have. */
export function assertGives(caller: Credential, scopes: Scope[]): void {
  if (!coversCredential(caller, { scopes })) throw new Refused(problems.outOfScope());
}

/** The organizations that the caller covers as a whole; undefined: all of them. */
export function organizationsOf(caller: Credential): string[] | undefined {
  if (coversAll(caller)) return undefined;
  return organizationsIn(scopesOf(caller).filter((scope) => scope?.appid === EVERY));
}

/** The organizations of which the caller covers anything; undefined: it may be any. */
export function organizationsTouched(caller: Pick<Credential, 'scopes'>): string[] | undefined {
  const touched = organizationsIn(scopesOf(caller));
  return touched.includes(EVERY) ? undefined : touched;
}

/** Operators write credentials by hand: a scope may be anything. */
function scopesOf({ scopes }: { scopes?: unknown }): (Partial<Scope> | null | undefined)[] {
  return Array.isArray(scopes) ? (scopes as (Partial<Scope> | null)[]) : [];
}

function organizationsIn(scopes: (Partial<Scope> | null | undefined)[]): string[] {
  return scopes.map((scope) => scope?.organizationid).filter((one) => typeof one === 'string');
}
