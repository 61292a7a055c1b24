import { isUtf8 } from 'node:buffer';
import { createReadStream, type Stats } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { addAbortSignal, type Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { nameOfTenant, type RecordScope, Refused, serviceNameFault } from '../plain.js';
import type { ServiceKey } from '../../application/index.js';
import {
  FatalError,
  fileTrouble,
  NAME,
  NAME_RULE,
  parseDate,
  shown,
  UsageError,
} from '../../platform/common/index.js';
import { isKindOf, type Kind, kindNames } from '../../kinds/index.js';
import type { Tenant } from '../../record/index.js';
import type { Terminal } from './command.js';
import { linesOf } from './import/index.js';

/** The input of commands: option values, files and stdin, lists of ids, passwords, and confirmations. */

/** The file name that denotes stdin. */
const STDIN = '-';

/** The application that the options name. Throws if a name is not valid. */
export function tenantOf({ org, app }: { org: string; app: string }): Tenant {
  return { organizationid: checkedName('org', org), appid: checkedName('app', app) };
}

export function checkedName(option: string, text: string): string {
  if (!NAME.test(text)) throw new UsageError(`--${option} "${shown(text)}" ${NAME_RULE}.`);
  return text;
}

/** The service that the options name. Throws if a name is not valid or is reserved, or if there is no such kind. */
export function serviceKeyOf(values: { org: string; app: string; kind: string; name: string }): ServiceKey {
  const fault = serviceNameFault(values.name);
  if (fault !== undefined) throw new UsageError(`--name "${shown(values.name)}" ${fault}`);
  return { ...tenantOf(values), kind: kindOf(values), name: values.name };
}

export function kindOf({ kind }: { kind: string }): Kind {
  return choiceOf('kind', kind, kindNames());
}

/**
 * The records that the options name. Throws like {@link kindOf}, and if the kind is fixed to another application: records
 * of such a kind do not name their application, so a written record would belong to the other one.
 */
export function scopeOf(values: { org: string; app: string; kind: string }): RecordScope {
  const tenant = tenantOf(values);
  const kind = kindOf(values);
  if (isKindOf(kind, tenant)) return { tenant, kind };
  throw new UsageError(
    `--kind "${kind}" is fixed to another application: ${nameOfTenant(tenant)} has no such records.`,
  );
}

export function choiceOf<C extends string>(option: string, text: string, choices: readonly C[]): C {
  const choice = choices.find((one) => one === text);
  if (choice === undefined) {
    throw new UsageError(`--${option} "${shown(text)}" is not known. Choose ${choices.join(' or ')}.`);
  }
  return choice;
}

/**
 * Rewrites a refusal whose message begins with a pointer into a request body, because a command has options instead.
 * The new message begins with the option, such as `--fields /only/0 is not a path`, or is the sentence after the
 * pointer. Any other error is returned as it is. `options` maps a property to its option where the two names differ.
 */
export function byOption(error: unknown, options: Record<string, string> = {}): unknown {
  const [, property, rest] = (error instanceof Refused && /^\/(\w+)(.*)$/s.exec(error.message)) || [];
  if (property === undefined) return error;
  // The rest is a sentence, such as: The filter uses data.email, which the service hides.
  if (/^ [A-Z]/.test(rest!)) return new FatalError(rest!.trim());
  return new FatalError(`--${options[property] ?? property}${rest!.startsWith('/') ? ' ' : ''}${rest}`);
}

/** Parses a time. Throws if it is not in the future. */
export function futureDateOf(option: string, text: string): Date {
  const date = dateOf(option, text);
  if (date <= new Date()) throw new UsageError(`--${option} ${text} is in the past.`);
  return date;
}

/** Parses a time. */
export function dateOf(option: string, text: string): Date {
  const parsed = parseDate(text);
  if ('error' in parsed) throw new UsageError(`--${option} ${parsed.error}`);
  return parsed.value;
}

export function daysOf(option: string, text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw new UsageError(
    `--${option} "${shown(text)}" is not a whole number of days from 1 to 9999, such as 90.`,
  );
}

export function linesIn(option: string, text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new UsageError(`--${option} "${shown(text)}" is not a whole number of lines, such as 1000.`);
}

/** Parses a number of seconds, at most an hour. */
export function secondsOf(option: string, text: string): number {
  if (/^\d{1,4}$/.test(text) && Number(text) <= 3600) return Number(text);
  throw new UsageError(
    `--${option} "${shown(text)}" is not a whole number of seconds from 0 to 3600, such as 30.`,
  );
}

const CHUNK = 256 * 1024;

/** A file that a command reads, and its size in bytes if it is known. */
interface InputFile {
  size: number | undefined;
  /** Starts reading; the signal ends it. The reader must destroy the stream. */
  open(stop: AbortSignal): Readable;
  /** Whether another program has written to the file since it was found. Not known of a pipe or a device. */
  hasChanged(): Promise<boolean>;
}

/** The file of this name, or `input` if the name is `-`. Throws if the file cannot be found or is a directory. */
export async function inputFile(name: string, input: Readable): Promise<InputFile> {
  if (name === STDIN)
    return {
      size: undefined,
      open: (stop) => addAbortSignal(stop, input),
      hasChanged: () => Promise.resolve(false),
    };
  const found = await stat(name).catch((error: unknown) => refuseFile(name, error));
  if (found.isDirectory()) throw new FatalError(`${name} is a directory.`);
  return {
    // A pipe or a device has the size 0, whatever it yields.
    size: found.isFile() ? found.size : undefined,
    open: (stop) => addAbortSignal(stop, createReadStream(name, { highWaterMark: CHUNK })),
    hasChanged: async () => found.isFile() && isOtherState(found, await stat(name).catch(() => found)),
  };
}

/** Whether the same file was written to. A file that was replaced as a whole, by renaming, has been read as it was. */
function isOtherState(before: Stats, now: Stats): boolean {
  return before.ino === now.ino && (before.mtimeMs !== now.mtimeMs || before.size !== now.size);
}

/** The text of a file, or of stdin if the file is `-`. */
export async function textIn(file: string, input: Readable): Promise<string> {
  const content =
    file === STDIN
      ? await buffer(input)
      : await readFile(file).catch((error: unknown) => refuseFile(file, error));
  if (isUtf8(content)) return content.toString();
  throw new FatalError(`${file === STDIN ? 'The input' : file} cannot be read: it is not UTF-8.`);
}

function refuseFile(file: string, error: unknown): never {
  throw new FatalError(`${file} cannot be read: ${fileTrouble(error as NodeJS.ErrnoException)}.`);
}

/** A batch ends with this number of ids, or with the line that brings its lines to this number of bytes. */
const AT_ONCE = 1000;
const BYTES_AT_ONCE = 2 * 1024 * 1024;
/** The longest id that is read, in bytes. */
const LONGEST_ID = 64 * 1024;
/** A repeated id is detected only among this many different ids before it. */
const MOST_REMEMBERED = 500_000;

/** A batch of ids, and the number of lines and bytes read so far. */
interface IdBatch {
  ids: string[];
  lines: number;
  bytes: number;
}

/** Reads a list of ids, one per line, exactly as written. Skips blank lines and repeated ids. */
export async function* idsOf(
  source: AsyncIterable<Uint8Array>,
  onBadLine: (line: number, reason: string) => void,
): AsyncGenerator<IdBatch> {
  const remembered = new Set<string>();
  let ids: string[] = [];
  let [lines, bytes, begun] = [0, 0, 0];
  for await (const line of linesOf(source, LONGEST_ID)) {
    lines = line.number;
    bytes += line.bytes;
    const id = 'text' in line ? line.text.replace(/\r$/, '') : '';
    if ('fault' in line) onBadLine(line.number, line.fault);
    else if (id.trim() !== '' && isNew(id, remembered)) ids.push(id);
    if (ids.length < AT_ONCE && bytes - begun < BYTES_AT_ONCE) continue;
    yield { ids, lines, bytes };
    [ids, begun] = [[], bytes];
  }
  if (ids.length > 0) yield { ids, lines, bytes };
}

function isNew(id: string, remembered: Set<string>): boolean {
  if (remembered.has(id)) return false;
  remembered.add(id);
  if (remembered.size > MOST_REMEMBERED) remembered.delete(remembered.values().next().value!);
  return true;
}

const SHORTEST = 12;
const LONGEST = 256;
/** A character takes at most four bytes in UTF-8; a line break two. */
const MOST_BYTES = LONGEST * 4 + 2;

/** Reads a password from stdin, without one trailing line break. */
export async function passwordFrom(input: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of input as AsyncIterable<Buffer | string>) {
    chunks.push(Buffer.from(chunk));
    bytes += chunks.at(-1)?.length ?? 0;
    if (bytes > MOST_BYTES) break;
  }
  return checkedPassword(decoded(Buffer.concat(chunks)).replace(/\r?\n$/, ''));
}

/** The password itself; throws unless it has 12 to 256 characters. */
function checkedPassword(password: string): string {
  const length = [...password].length;
  if (length < SHORTEST || length > LONGEST) {
    throw new FatalError(`A password must have ${SHORTEST} to ${LONGEST} characters.`);
  }
  return password;
}

function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new FatalError('The password is not UTF-8.');
  }
}

const YES = /^\s*y(es)?\s*$/i;

/**
 * Asks on stderr and reads one line of stdin. Only `y` or `yes` confirms; the end of the input does not. Without a
 * question, only reads.
 */
export async function isConfirmed({ input, errors }: Terminal, question?: string): Promise<boolean> {
  if (question !== undefined) errors.write(`${question} [y/N] `);
  const lines = createInterface({ input });
  try {
    for await (const line of lines) return YES.test(line);
    return false;
  } finally {
    lines.close();
  }
}
