import type { mongo } from 'mongoose';
import { isMap, LineCounter, parseDocument, stringify, visit } from 'yaml';
import { APPLICATIONS, SERVICES } from '../../application/plain.js';
import { CREDENTIALS, hashPassword } from '../../auth/plain.js';
import { isDuplicateKey } from '../../platform/database/plain.js';
import { allows, namesIn, problems, Problem, shaped } from '../../platform/http/plain.js';
import { ofTenant } from '../../record/index.js';
import { removeSchemas } from '../../replication/schema/plain.js';
import { removeHashKey } from '../../replication/store/plain.js';
import { AUDIT_TRAIL, type AuditedAction } from '../../trail/plain.js';
import { applicationAction, applicationExists } from '../applications.js';
import { credentialAction, forgetUses, named, randomPassword } from '../credentials.js';
import { type ChangeContext, recordActions, Refused, usernameUnavailable } from '../changes.js';
import { dropIndexes, kindAction } from '../kinds.js';
import { kindsOf } from '../listed-kinds.js';
import { serviceAction, withKey } from '../services.js';
import { type Configuration, CONFIGURATION } from '../shapes.js';
import { type PlannedChange, assertSingle, thingsOf } from './difference.js';
import { assertPossible, compare, type PlanOptions } from './plan.js';
import { atOnce, exactly, FatalError, isKept } from '../../platform/common/index.js';
import { configurationJson } from './stored-configuration.js';

/** The `_id` of a document that exists only within a transaction. */
const TURN = 'configuration.apply';

interface ApplyOptions extends PlanOptions {
  /** Entity tag of the configuration that the plan was made against. Without it, any version may be changed. */
  ifMatch?: string | undefined;
  /** Maximum number of credentials that one call creates: each password is hashed, which takes time. */
  mostNew?: number;
}

/** The applied changes, and the passwords of the new credentials by user name. */
export interface Applied {
  changes: PlannedChange[];
  passwords: Record<string, string>;
}

/**
 * Changes the stored configuration to the wanted one, in one transaction. Throws 400, 403, 404 and 409, and 412 if the
 * configuration has changed since the plan was made.
 */
export async function applyConfiguration(
  changeContext: ChangeContext,
  wanted: Configuration,
  { ifMatch, mostNew = Infinity, ...options }: ApplyOptions,
): Promise<Applied> {
  const { db } = changeContext;
  await changeContext.readKinds?.();
  const first = await compare(db, wanted, options);
  if (!allows(ifMatch, first.etag)) throw new Refused(problems.stale(ifMatch));
  await assertPossible(db, first.changes, options.reach, changeContext.turn);
  const secrets = await secretsFor(first.changes, mostNew);
  await db.client.withSession((session) =>
    session.withTransaction(
      async () => {
        const now = await compare(db, wanted, options, session);
        if (now.etag !== first.etag) throw new Refused(problems.stale());
        await takeTurn(db, session);
        for (const change of inOrder(first.changes)) await write(db, change, secrets, session);
        await recordActions(changeContext, first.changes.map(auditedAction), session);
      },
      { readConcern: { level: 'snapshot' }, writeConcern: { w: 'majority' } },
    ),
  );
  // The changes are committed, so the passwords must reach the caller even if what follows fails.
  await forgetUses(db, [...secrets.keys()]).catch(() => undefined);
  await removeOrphans(db, first.changes).catch(() => undefined);
  await dropIndexesOfRemoved(db, first.changes);
  if (first.changes.some(({ thing }) => thing.what === 'kind'))
    await changeContext.readKinds?.().catch(() => undefined);
  const passwords = [...secrets].map(([username, { password }]) => [username, password]);
  return { changes: first.changes, passwords: Object.fromEntries(passwords) as Applied['passwords'] };
}

/**
 * Makes concurrent transactions conflict. They may write different documents, and then each would otherwise succeed
 * without seeing the writes of the other. One of them now gets a write conflict, is retried, and compares again.
 */
async function takeTurn(db: mongo.Db, session: mongo.ClientSession): Promise<void> {
  const turns = db.collection<{ _id: string }>(AUDIT_TRAIL);
  await turns.insertOne({ _id: TURN }, { session });
  await turns.deleteOne({ _id: TURN }, { session });
}

/** Kinds are removed first: one that is created may use the collection of one that is removed. */
function inOrder(changes: PlannedChange[]): PlannedChange[] {
  const isFirst = ({ action, thing }: PlannedChange) => action === 'remove' && thing.what === 'kind';
  return [...changes.filter(isFirst), ...changes.filter((change) => !isFirst(change))];
}

/** Removes services that were written while their application was removed. */
async function removeOrphans(db: mongo.Db, changes: PlannedChange[]): Promise<void> {
  for (const { action, thing } of changes) {
    if (thing.what !== 'service' || action === 'remove') continue;
    if (!(await applicationExists(db, thing.key)))
      await db.collection(SERVICES).deleteMany(ofTenant(thing.key));
  }
}

/** Removes the indexes of removed kinds, unless a kind that is created uses the same collection. */
async function dropIndexesOfRemoved(db: mongo.Db, changes: PlannedChange[]): Promise<void> {
  const collections = (wanted: 'create' | 'remove') =>
    changes.flatMap(({ action, thing }) =>
      thing.what === 'kind' && action === wanted ? [thing.fields['collection']] : [],
    );
  const inUse = new Set(collections('create'));
  for (const collection of collections('remove'))
    if (!inUse.has(collection)) await dropIndexes(db, collection);
}

type Secrets = Map<string, { password: string; passwordhash: string }>;

async function secretsFor(changes: PlannedChange[], most: number): Promise<Secrets> {
  const usernames = changes.flatMap(({ action, thing }) =>
    action === 'create' && thing.what === 'credential' ? [thing.key.username] : [],
  );
  if (usernames.length > most) {
    const detail = `It makes ${usernames.length} credentials; at most ${most} are made at a time.`;
    throw new Refused(problems.invalidRequest([{ pointer: '/credentials', detail }]));
  }
  const secrets: Secrets = new Map();
  for (const username of usernames) {
    const password = randomPassword();
    secrets.set(username, { password, passwordhash: await hashPassword(password) });
  }
  return secrets;
}

async function write(
  db: mongo.Db,
  { action, thing }: PlannedChange,
  secrets: Secrets,
  session: mongo.ClientSession,
): Promise<void> {
  const { collection, which } = documentOf(db, thing);
  if (action === 'remove') {
    await collection.deleteOne(which, { session });
    if (thing.what === 'application') {
      await removeHashKey(db, thing.key, session);
      await removeSchemas(db, thing.key, session);
    }
  } else if (thing.what === 'credential' && action === 'create') {
    const { passwordhash } = secrets.get(thing.key.username)!;
    const document = { ...thing.key, passwordhash, ...withValues(thing.fields) };
    await collection.insertOne(document, { session }).catch((error: unknown) => {
      if (isDuplicateKey(error)) throw usernameUnavailable(thing.key.username);
      throw error;
    });
  } else {
    const $set = { ...thing.key, ...withValues(thing.fields) };
    const none = Object.keys(thing.fields).filter((name) => thing.fields[name] === undefined);
    const $unset = Object.fromEntries(none.map((name) => [name, '']));
    await collection.updateOne(which, { $set, $unset }, { upsert: true, session });
  }
}

function documentOf(
  db: mongo.Db,
  { what, key }: PlannedChange['thing'],
): { collection: mongo.Collection; which: mongo.Document } {
  switch (what) {
    case 'kind':
      return { collection: kindsOf(db), which: { name: exactly(key.name) } };
    case 'application':
      return { collection: db.collection(APPLICATIONS), which: ofTenant(key) };
    case 'service':
      return { collection: db.collection(SERVICES), which: withKey(key) };
    case 'credential':
      return { collection: db.collection(CREDENTIALS), which: named(key.username) };
  }
}

function withValues(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function auditedAction({ action, thing, changed }: PlannedChange): AuditedAction {
  const names = action === 'change' ? changed : undefined;
  switch (thing.what) {
    case 'kind':
      return kindAction(action === 'remove' ? 'kind.remove' : 'kind.create', thing.key.name);
    case 'application':
      return applicationAction(`application.${action}`, thing.key, names);
    case 'service':
      return serviceAction(action === 'remove' ? 'service.remove' : 'service.set', thing.key, names);
    case 'credential': {
      const done = { create: 'issue', change: 'change', remove: 'revoke' } as const;
      return credentialAction(`credential.${done[action]}`, { ...thing.key, ...thing.fields }, names);
    }
  }
}

/** Maximum number of characters in a file; 100,000 credentials take about 15 MB. */
const LONGEST = 32 * 1024 * 1024;
const WIDTH = 120;
const HEAD = [
  '# The configuration of Tidemark: kinds, applications with their services, and credentials without their passwords.',
  '# "config plan FILE" tells what it would change, "config apply FILE" changes it.',
].join('\n');

/** Returns the text of a configuration file. Comments in it list what could not be part of the configuration. */
export function configurationFile(configuration: Configuration, leftOut: string[]): string {
  const yaml = stringify(configurationJson(configuration), {
    lineWidth: WIDTH,
    aliasDuplicateObjects: false,
  });
  const comments = leftOut.map((one) => `# Not part of it: ${one.replaceAll(/\s+/g, ' ')}`);
  return [HEAD, ...comments, yaml.trimEnd()].join('\n');
}

/** A configuration file after parsing. */
interface ConfigurationFile {
  configuration: Configuration;
  /**
   * The line of the value at a pointer (RFC 6901), counted from 1. If there is no such value, the line of the innermost
   * value that would contain it.
   */
  lineOf: (pointer: string) => number | undefined;
}

/**
 * Reads YAML, and so also JSON, which is a subset. Throws a FatalError if the file is not valid. The error names the
 * line of the first fault, unless the fault concerns the file as a whole.
 */
export function readConfigurationFile(text: string): ConfigurationFile {
  if (text.length > LONGEST) throw new FatalError(`The file has more than ${LONGEST} characters.`);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, schema: 'core', prettyErrors: false });
  const [error] = document.errors;
  if (error !== undefined) throw atLine(lines.linePos(error.pos[0]).line, `is not YAML: ${error.message}`);
  // An export as JSON names in it what is not part of the configuration.
  if (isMap(document.contents)) document.delete('leftOut');
  const lineOf = (pointer: string) => {
    const path = namesIn(pointer);
    for (let length = path.length; length >= 0; length -= 1) {
      const node = document.getIn(path.slice(0, length), true) as
        | { range?: [number, number, number] }
        | undefined;
      if (node?.range) return lines.linePos(node.range[0]).line;
    }
    return undefined;
  };
  visit(document, {
    Scalar: (_key, { value, source = '', range }) => {
      if (typeof value !== 'number' || isKept(source)) return;
      const line = lines.linePos(range?.[0] ?? 0).line;
      throw atLine(
        line,
        `holds the number ${source}, which cannot be kept as it is written: write 42, or a text.`,
      );
    },
  });
  const json = toJson(document);
  const configuration = withLines(lineOf, () => {
    const read = atOnce(shaped(CONFIGURATION, json));
    atOnce(assertSingle(atOnce(thingsOf(read))));
    return read;
  });
  return { configuration, lineOf };
}

/** Adds the line to an error that `work` throws about a place in the file. */
function withLines<T>(lineOf: ConfigurationFile['lineOf'], work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw onLine(lineOf, error);
  }
}

/** Adds the line to an error about a place in the file. Returns other errors unchanged. */
export function onLine(lineOf: ConfigurationFile['lineOf'], error: unknown): unknown {
  const problem = error instanceof Refused ? error.problem : error;
  if (!(problem instanceof Problem)) return error;
  const [first] = problem.extras.errors ?? [];
  if (first === undefined || !('pointer' in first)) return error;
  const line = lineOf(first.pointer);
  const said = first.detail.startsWith(first.pointer) ? first.detail : `${first.pointer} ${first.detail}`;
  return line === undefined ? new FatalError(said) : atLine(line, said);
}

function atLine(line: number, said: string): FatalError {
  return new FatalError(`Line ${line}: ${said.replaceAll(/\s+/g, ' ')}`);
}

function toJson(document: ReturnType<typeof parseDocument>): object {
  const json = aliased(document);
  if (typeof json === 'object' && json !== null && !Array.isArray(json)) return json;
  throw new FatalError('The file is not such as {applications: [...], credentials: [...]}.');
}

/** Limits aliases: a file written by a person has few of them, and nested aliases can expand to any size. */
function aliased(document: ReturnType<typeof parseDocument>): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 }) as unknown;
  } catch (error) {
    throw new FatalError(`The file cannot be read: ${(error as Error).message}.`);
  }
}
