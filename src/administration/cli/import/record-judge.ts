import { hash } from 'node:crypto';
import type { mongo } from 'mongoose';
import { alongIndex, isDatabaseAway } from '../../../platform/database/plain.js';
import {
  recordsIn,
  BY_EMAIL_KEY,
  BY_RECORD_ID,
  ofTenant,
  type Tenant,
  withIds,
} from '../../../record/index.js';
import type { Kind } from '../../../kinds/index.js';
import type { RecordLine } from './lines.js';
import {
  doubledAmong,
  EMAIL_TAKEN,
  equalityStage,
  type RecordSink,
  refusalOf,
  whyDoubled,
  type WriteOutcome,
} from './record-sink.js';

const IN_FEED_ORDER = { organizationid: 1, appid: 1, _id: 1 } as const;
/**
 * Written as expressions, because a projection by names ends once it has found as many fields as it names: a name that
 * occurs twice in a record would hide a later field of it.
 */
const OWNER_FIELDS = { _id: 0, id: '$id', emailkey: '$emailkey' };
/** Maximum number of ids that are shown as created, and as changed. */
const MOST_SHOWN = 10;

/** What is stored under the ids and e-mails of a batch. */
interface Standing {
  /** By `id`, whether the stored record equals its line. */
  equal: Map<string, boolean>;
  /** By `id`, a name that occurs twice in the record. */
  doubled: Map<string, string>;
  /** By e-mail, the `id` of the member that has it; undefined if that `id` is not a string. */
  owners: Map<string, string | undefined>;
}

/**
 * Determines what a {@link RecordWriter} would do with lines, without writing. It does not foresee refusals for the
 * size of a record or by a validator.
 */
export class RecordJudge implements RecordSink {
  /** The first ids that would be created and changed. */
  readonly first = { created: [] as string[], changed: [] as string[] };
  private readonly records: mongo.Collection;
  private readonly memory = new FileMemory();
  private found = 0;

  constructor(
    db: mongo.Db,
    private readonly tenant: Tenant,
    private readonly kind: Kind,
  ) {
    this.records = recordsIn(db, kind);
  }

  /** Judges lines with different ids. Throws only if the database is unavailable. */
  async write(lines: RecordLine[]): Promise<WriteOutcome> {
    const outcome: WriteOutcome = { created: 0, changed: 0, refused: [] };
    await this.judge(lines, outcome);
    return outcome;
  }

  /** The number of stored records that are not in the file. Call it after all lines were judged. */
  async unseen(): Promise<number> {
    const all = await alongIndex(this.records, IN_FEED_ORDER, (hint) =>
      this.records.countDocuments(ofTenant(this.tenant), { hint }),
    );
    return Math.max(0, all - this.found);
  }

  /** If the database refuses a batch, halves it like the writer, until each refused line is found. */
  private async judge(lines: RecordLine[], outcome: WriteOutcome): Promise<void> {
    let standing: Standing;
    try {
      standing = await this.standing(lines);
    } catch (error) {
      const [first, ...others] = lines;
      if (isDatabaseAway(error) || first === undefined) throw error;
      if (others.length === 0)
        return void outcome.refused.push({ number: first.number, reason: refusalOf(error) });
      const middle = Math.ceil(lines.length / 2);
      await this.judge(lines.slice(0, middle), outcome);
      return this.judge(lines.slice(middle), outcome);
    }
    for (const line of lines) this.judgeOne(line, standing, outcome);
  }

  private judgeOne({ number, record }: RecordLine, standing: Standing, outcome: WriteOutcome): void {
    const { id, emailkey } = record;
    const doubled = standing.doubled.get(id);
    const refusal =
      doubled !== undefined
        ? whyDoubled(this.kind, doubled)
        : this.isTaken(record, standing)
          ? EMAIL_TAKEN
          : undefined;
    if (refusal !== undefined) return void outcome.refused.push({ number, reason: refusal });
    const digest = hash('sha256', JSON.stringify(record), 'base64');
    const before = this.memory.get(id);
    const isEqual = before === undefined ? standing.equal.get(id) : before.digest === digest;
    this.memory.remember(id, { digest, emailkey });
    if (before === undefined && isEqual !== undefined) this.found += 1;
    if (isEqual === undefined) this.count('created', id, outcome);
    else if (!isEqual) this.count('changed', id, outcome);
  }

  private count(what: 'created' | 'changed', id: string, outcome: WriteOutcome): void {
    outcome[what] += 1;
    if (this.first[what].length < MOST_SHOWN) this.first[what].push(id);
  }

  /**
   * Whether another member has the e-mail. A stored e-mail no longer counts once the file has contained a line for its
   * member, because that line replaces it.
   */
  private isTaken({ id, emailkey }: RecordLine['record'], { owners }: Standing): boolean {
    if (emailkey === undefined) return false;
    const inFile = this.memory.ownerOf(emailkey);
    if (inFile !== undefined) return inFile !== id;
    if (!owners.has(emailkey)) return false;
    const owner = owners.get(emailkey);
    return owner !== id && (owner === undefined || this.memory.get(owner) === undefined);
  }

  private async standing(lines: RecordLine[]): Promise<Standing> {
    const records = lines.map(({ record }) => record);
    const query = withIds(
      this.tenant,
      records.map(({ id }) => id),
    );
    const [doubled, found, owners] = await Promise.all([
      alongIndex(this.records, BY_RECORD_ID, (hint) => doubledAmong(this.records, query, { hint })),
      alongIndex(this.records, BY_RECORD_ID, (hint) =>
        this.records
          .aggregate<{ id: string; isEqual: boolean }>([{ $match: query }, equalityStage(records)], { hint })
          .toArray(),
      ),
      this.owners(records.flatMap(({ emailkey }) => emailkey ?? [])),
    ]);
    return { doubled, equal: new Map(found.map(({ id, isEqual }) => [id, isEqual])), owners };
  }

  private async owners(emailkeys: string[]): Promise<Standing['owners']> {
    if (emailkeys.length === 0) return new Map();
    const found = await alongIndex(this.records, BY_EMAIL_KEY, (hint) =>
      this.records
        .find<{ id?: unknown; emailkey: string }>(
          { ...ofTenant(this.tenant), emailkey: { $in: emailkeys, $type: 'string' } },
          { projection: OWNER_FIELDS, hint },
        )
        .toArray(),
    );
    return new Map(found.map(({ id, emailkey }) => [emailkey, typeof id === 'string' ? id : undefined]));
  }
}

/** A remembered line: a digest of it, and the e-mail that it gives its member. */
interface RememberedLine {
  digest: string;
  emailkey: string | undefined;
}

const MOST_REMEMBERED = 500_000;

/**
 * Remembers the lines of a file by `id`, so that a later line is judged as if the earlier ones were stored. Keeps the
 * last half million ids.
 */
export class FileMemory {
  private readonly lines = new Map<string, RememberedLine>();
  private readonly owners = new Map<string, string>();

  constructor(private readonly most = MOST_REMEMBERED) {}

  get(id: string): RememberedLine | undefined {
    return this.lines.get(id);
  }

  /** The `id` to which a line gave the e-mail, unless a later line changed that. */
  ownerOf(emailkey: string): string | undefined {
    return this.owners.get(emailkey);
  }

  remember(id: string, line: RememberedLine): void {
    this.forget(id);
    this.lines.set(id, line);
    if (line.emailkey !== undefined) this.owners.set(line.emailkey, id);
    if (this.lines.size > this.most) this.forget(this.lines.keys().next().value!);
  }

  private forget(id: string): void {
    const emailkey = this.lines.get(id)?.emailkey;
    if (emailkey !== undefined && this.owners.get(emailkey) === id) this.owners.delete(emailkey);
    this.lines.delete(id);
  }
}
