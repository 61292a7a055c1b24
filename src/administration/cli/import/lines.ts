import { isUtf8 } from 'node:buffer';
import {
  type LostNumber,
  lostNumber,
  parseDate,
  type Parsed,
  shown,
} from '../../../platform/common/index.js';
import { emailKeyOf } from '../../../member/plain.js';
import { termsOf } from '../../../record/index.js';
import { type Kind, PERSON_KIND, kindNames, describedKind } from '../../../kinds/index.js';

/** The record that a line describes. An omitted property stays unchanged, or gets its default in a new record. */
export interface GivenRecord {
  id: string;
  data: Record<string, unknown>;
  channels?: string[];
  type?: string;
  createDate?: Date;
  createdBy?: string;
  /** Only for members with an e-mail. */
  emailkey?: string;
}

const RESERVED = '_bsontype';
/** A line that does not match cannot contain the reserved name. `\u` matches because JSON can escape any letter. */
const UNSTORABLE = /bsontype|\\u/;

type Json = Record<string, unknown>;
type Check = (value: unknown) => string | undefined;

const text: Check = (value) =>
  typeof value === 'string' && value !== '' ? undefined : 'must be a string that is not empty';

/**
 * BSON stores UTF-8. Half of a surrogate pair would be stored as another id, and the same line would never find its
 * record again.
 */
const idText: Check = (value) => {
  if (typeof value !== 'string' || value.isWellFormed()) return text(value);
  return 'contains half of a surrogate pair, such as "\\ud83d", which cannot be stored';
};

/** The properties of a line. Each check returns what is wrong with a value. */
const PROPERTIES: Record<string, Check> = {
  id: idText,
  data: (value) => (isObject(value) ? undefined : 'must be an object'),
  channels: (value) =>
    Array.isArray(value) && value.every((channel) => typeof channel === 'string')
      ? undefined
      : 'must be an array of strings',
  type: text,
  createDate: (value) =>
    typeof value === 'string' ? errorOf(parseDate(value)) : 'must be a date as a string',
  createdBy: (value) => (typeof value === 'string' ? undefined : 'must be a string'),
};

/** The error of a line, and a hint if the whole file may be of another kind. */
export interface BadLine {
  error: string;
  hint?: string;
}

/** Parses a line of an import file (contract §5), or returns its error. */
export function parseRecordLine(kind: Kind, line: string): { value: GivenRecord } | BadLine {
  const json = parsed(line);
  if (!isObject(json)) return { error: json === undefined ? 'is not JSON' : 'is not an object' };
  const fault = faultOf(json);
  if (fault !== undefined) return { error: fault };
  const reserved = UNSTORABLE.test(line) ? unstorableName(json['data'], 'data') : undefined;
  if (reserved !== undefined)
    return { error: `${shown(reserved)} is a name that the driver reserves; use another one` };
  const lost = lostNumber(line);
  if (lost !== undefined) return { error: numberFault(lost) };
  const isOther = kindFaultOf(kind, json as unknown as GivenRecord);
  if (isOther !== undefined) return isOther;
  const emailkey = kind === PERSON_KIND ? emailKeyOf((json['data'] as Json)['email']) : undefined;
  const createDate = dateOf(json['createDate']);
  const record = {
    ...(json as unknown as GivenRecord),
    ...(createDate !== undefined && { createDate }),
    ...(emailkey !== undefined && { emailkey }),
  };
  return storable(kind, record);
}

/**
 * Reduces a record to the properties that its collection can store. If its records have no field `data`, all their
 * fields but the record's own, such as its id, are data: `type`, `createDate` and `createdBy` would become data too, so
 * they are dropped (contract §8).
 */
function storable(kind: Kind, record: GivenRecord): { value: GivenRecord } | BadLine {
  const { stored } = describedKind(kind);
  if (stored === undefined || stored.hasData) return { value: record };
  const { id, data, channels } = record;
  const taken = termsOf(kind)?.ownNames.find((name) => Object.hasOwn(data, name));
  if (taken !== undefined)
    return {
      error: `data.${shown(taken)} would overwrite a field of the record itself, such as its id; leave it out`,
    };
  return { value: { id, data, ...(stored.hasChannels && channels !== undefined && { channels }) } };
}

function faultOf(json: Json): string | undefined {
  for (const [name, value] of Object.entries(json)) {
    const check = Object.hasOwn(PROPERTIES, name) ? PROPERTIES[name] : undefined;
    if (check === undefined) return `has an unknown property "${shown(name)}"`;
    const wrong = check(value);
    if (wrong !== undefined) return `${name} ${wrong}`;
  }
  return ['id', 'data']
    .map((name) => (Object.hasOwn(json, name) ? undefined : `${name} is missing`))
    .find(Boolean);
}

/** The path of a name that the driver reserves. The driver would refuse the whole record. */
function unstorableName(value: unknown, place: string): string | undefined {
  const left = [{ value, place }];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (typeof next.value !== 'object' || next.value === null) continue;
    for (const [name, inner] of Object.entries(next.value)) {
      const at = `${next.place}.${name}`;
      if (name === RESERVED) return at;
      left.push({ value: inner, place: at });
    }
  }
  return undefined;
}

/** The stored number must equal the written one. */
function numberFault({ pointer, written }: LostNumber): string {
  const place = shown(pointer.slice(1).replaceAll('/', '.'));
  return `${place} is ${shown(written)}, a number that cannot be stored exactly; write another number, or a string`;
}

/**
 * Why a line seems to be of another kind. Without this check, a file of products would be stored as members without any
 * error. A line whose `type` is the given kind is always accepted.
 */
function kindFaultOf(kind: Kind, { data, type }: GivenRecord): BadLine | undefined {
  if (type === kind) return undefined;
  const isNamed = kindNames().some((name) => name === type);
  const other = isNamed
    ? { kind: type, why: `has the type "${type}"` }
    : describedKind(kind).seemsOther?.(data);
  return (
    other && {
      error: other.why,
      hint: `is it a ${other.kind}? Then import it with --kind ${other.kind}. If it is a ${kind}, give it "type": "${kind}"`,
    }
  );
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function errorOf(result: Parsed<unknown>): string | undefined {
  return 'error' in result ? result.error : undefined;
}

function dateOf(value: unknown): Date | undefined {
  const result = typeof value === 'string' ? parseDate(value) : undefined;
  return result !== undefined && 'value' in result ? result.value : undefined;
}

/** The longest line that is read, in bytes: the size of the largest record that MongoDB stores. */
const LONGEST_LINE = 16 * 1024 * 1024;

const NEWLINE = 0x0a;
const BYTE_ORDER_MARK = '\uFEFF';

/**
 * A line of a file: its number from 1, its number of bytes, and its text, or why it cannot be read. The bytes include a
 * line break, even if the last line has none.
 */
export type Line = { number: number; bytes: number } & ({ text: string } | { fault: string });

/** Splits bytes into lines. Keeps at most one line and one chunk in memory. */
export async function* linesOf(
  source: AsyncIterable<Uint8Array>,
  longest = LONGEST_LINE,
): AsyncGenerator<Line> {
  const line = new LineUnderWay(longest);
  for await (const chunk of source) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      line.add(bytes.subarray(start, end));
      yield line.end();
      start = end + 1;
    }
    line.add(bytes.subarray(start));
  }
  if (!line.isEmpty) yield line.end();
}

/** A line that is still being read. The bytes of a line that is too long are counted but not kept. */
class LineUnderWay {
  private number = 1;
  private bytes = 0;
  private pieces: Uint8Array[] = [];

  constructor(private readonly longest: number) {}

  get isEmpty(): boolean {
    return this.bytes === 0;
  }

  add(piece: Uint8Array): void {
    this.bytes += piece.length;
    if (this.bytes > this.longest) this.pieces = [];
    else if (piece.length > 0) this.pieces.push(piece);
  }

  /** Ends the current line and starts the next one. */
  end(): Line {
    const { number, bytes, pieces } = this;
    this.number += 1;
    this.bytes = 0;
    this.pieces = [];
    const place = { number, bytes: bytes + 1 };
    if (bytes > this.longest) return { ...place, fault: `is longer than ${this.longest} bytes` };
    const whole = Buffer.concat(pieces);
    if (!isUtf8(whole)) return { ...place, fault: 'is not UTF-8' };
    const text = whole.toString();
    return { ...place, text: number === 1 && text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text };
  }
}

/** A record of the file with the number of its line. */
export interface RecordLine {
  number: number;
  /** Bytes of the line. */
  bytes: number;
  record: GivenRecord;
}

const MOST_LINES = 1000;
/**
 * Maximum number of JSON bytes in a batch of two or more lines. BSON may take several times as much, and a command is
 * limited to 16 MiB.
 */
const MOST_BYTES = 2 * 1024 * 1024;

/**
 * Groups lines into batches, one for each write. An `id` occurs only once in a batch, so that of two lines with the
 * same `id` the later one wins.
 */
export async function* batchesOf(lines: AsyncIterable<RecordLine>): AsyncGenerator<RecordLine[]> {
  let batch: RecordLine[] = [];
  let ids = new Set<string>();
  let bytes = 0;
  for await (const line of lines) {
    const full = batch.length >= MOST_LINES || bytes + line.bytes > MOST_BYTES || ids.has(line.record.id);
    if (full && batch.length > 0) {
      yield batch;
      batch = [];
      ids = new Set();
      bytes = 0;
    }
    batch.push(line);
    ids.add(line.record.id);
    bytes += line.bytes;
  }
  if (batch.length > 0) yield batch;
}

/** Yields the same items. Each is requested while the previous one is processed. */
export async function* readAhead<T>(source: AsyncGenerator<T>): AsyncGenerator<T> {
  let coming = source.next();
  try {
    for (;;) {
      const arrived = await coming;
      if (arrived.done === true) return;
      coming = source.next();
      coming.catch(() => undefined);
      yield arrived.value;
    }
  } finally {
    source.return(undefined).catch(() => undefined);
  }
}
