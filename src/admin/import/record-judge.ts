import { hash } from 'node:crypto';
import type { mongo } from 'mongoose';
import { alongIndex, isDatabaseAway } from '../../database/plain.js';
import {
  BY_EMAIL_KEY,
  BY_RECORD_ID,
  COLLECTION_OF,
  type Kind,
  ofTenant,
  type Tenant,
  withIds,
} from '../../record/index.js';
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
/** Expressions: a projection by names may end at the second of two fields with the same name. */
const OWNER_FIELDS = { _id: 0, id: '$id', emailkey: '$emailkey' };
/** Some of the ids are shown, so many of each sort. */
const MOST_SHOWN = 10;

/** What stands in the database of the ids of a batch. */
interface Standing {
  /** By `id`, whether the record is what its line says. */
  equal: Map<string, boolean>;
  /** By `id`, a name that stands twice in the record. */
  doubled: Map<string, string>;
  /** By e-mail, the `id` of the member that has it; undefined where its `id` is no text. */
  owners: Map<string, string | undefined>;
}

/**
 * Tells what a {@link RecordWriter} would do with lines, and writes nothing. What the database would refuse for its size
 * or a validator is not foreseen.
 */
export class RecordJudge implements RecordSink {
  /** The first ids that would be made and changed. */
  readonly first = { created: [] as string[], changed: [] as string[] };
  private readonly records: mongo.Collection;
  private readonly memory = new FileMemory();
  private found = 0;

  constructor(
    db: mongo.Db,
    private readonly tenant: Tenant,
    private readonly kind: Kind,
  ) {
    this.records = db.collection(COLLECTION_OF[kind]);
  }

  /** Judges lines of different ids. Throws only where the database is away. */
  async write(lines: RecordLine[]): Promise<WriteOutcome> {
    const outcome: WriteOutcome = { created: 0, changed: 0, refused: [] };
    await this.judge(lines, outcome);
    return outcome;
  }

  /** How many records the file lacks, now that all of its lines were judged. */
  async unseen(): Promise<number> {
    const all = await alongIndex(this.records, IN_FEED_ORDER, (hint) =>
      this.records.countDocuments(ofTenant(this.tenant), { hint }),
    );
    return Math.max(0, all - this.found);
  }

  /** Lines that the database refuses to look at are found by halves, as the writer does it. */
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

  /** A member of the database has its e-mail no more where the file had a line for it. */
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

/** What is remembered of a line: what it says, shortened, and the e-mail that it gives its member. */
interface RememberedLine {
  digest: string;
  emailkey: string | undefined;
}

const MOST_REMEMBERED = 500_000;

/**
 * What the lines of a file have said so far, by `id`, so that a later line is judged as if the ones before it were stored.
 * Of the last half million ids; those before them are forgotten.
 */
export class FileMemory {
  private readonly lines = new Map<string, RememberedLine>();
  private readonly owners = new Map<string, string>();

  constructor(private readonly most = MOST_REMEMBERED) {}

  get(id: string): RememberedLine | undefined {
    return this.lines.get(id);
  }

  /** The `id` to which a line gave the e-mail, and no later one took it away. */
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
