import { Injectable, Logger } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import { APPLICATIONS, type ServiceKey } from '../../application/index.js';
import { SharedReads } from '../../platform/common/index.js';
import { Metrics } from '../../platform/observability/index.js';
import { ofTenant } from '../../record/index.js';
import { markKey, type StoredHead } from '../protocol/index.js';
import { HEADS } from '../store/index.js';
import { changesBetween, type FieldChange, withoutMembersOfMaps, merged } from './merge.js';
import {
  type CurrentSchema,
  knownSchema,
  isSameVersion,
  type ServedService,
  servedVersion,
} from './served.js';
import { COMMENT, type SchemaSample, sampled } from './sample.js';
import { type SeenItems, seenIn, textOfSeen } from './seen.js';
import { type StoredSchema, beginStored, readStored, removeNames, replaceStored } from './stored-schemas.js';

/** The maximum number of changes that are kept with a schema: the newest ones. */
const MOST_CHANGES = 50;
/** A schema of fewer records lists no changes: it says little about the next records. */
const FEWEST_RECORDS = 20;

/** How often a sample is taken at most until it is stored, if others are stored in the meantime. */
const MOST_ATTEMPTS = 3;

/** Runs work once there is a place for it. The place is free again when the work has ended. */
type InTurn = (work: () => Promise<void>) => Promise<void>;

/** Takes samples, and keeps what they have shown. */
@Injectable()
export class Schemas {
  private readonly log = new Logger('Schema');
  private readonly samplings = new SharedReads<void>();

  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly metrics: Metrics,
  ) {}

  /**
   * The schema of a service, for the version of the service that is in force now. If there is none yet, this call takes
   * the first sample, in turn. Undefined if the service is not served, or is edited at this moment. Throws the errors of
   * `inTurn`.
   */
  async current(key: ServiceKey, inTurn: InTurn): Promise<CurrentSchema | undefined> {
    const known = await knownSchema(this.db, key);
    if (known !== 'missing') return known;
    await inTurn(() => this.first(key));
    const made = await knownSchema(this.db, key);
    return made === 'missing' ? undefined : made;
  }

  /** Takes the first sample of a service. It ends when the sample has ended, even if that takes too long for a shared read. */
  private async first(key: ServiceKey): Promise<void> {
    let sampling: Promise<void> | undefined;
    const sample = async () => {
      if ((await knownSchema(this.db, key)) === 'missing') await this.sample(key);
    };
    try {
      await this.samplings.share(`first ${JSON.stringify(key)}`, () => (sampling = sample()));
    } finally {
      await sampling?.catch(() => undefined);
    }
  }

  /**
   * Takes another sample of a service; removes the names of fields if it is not served. If another sample, which may be
   * an earlier one, is stored in the meantime, takes it again.
   */
  refresh(key: ServiceKey): Promise<void> {
    return this.samplings.share(JSON.stringify(key), async () => {
      for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt += 1) if (await this.sample(key)) return;
    });
  }

  /**
   * Whether a service needs {@link refresh} regardless of the pause between two samples: it has no sample, it was
   * edited, it is no longer served but names of its fields are stored, or the head of its application and kind has
   * risen since the sample. In the last case, an earlier leader may have ended before it sampled the service again.
   */
  async isOutdated(key: ServiceKey): Promise<boolean> {
    const known = await knownSchema(this.db, key);
    if (known === undefined) return (await readStored(this.db, key))?.seen !== undefined;
    if (known === 'missing') return true;
    const head = await this.head(key);
    return (head?.getTime() ?? 0) > (known.stored.head?.getTime() ?? 0);
  }

  /** Returns false if the sample was not stored, because something else was written since it began. */
  private async sample(key: ServiceKey): Promise<boolean> {
    const served = await servedVersion(this.db, key);
    if (served === undefined) return this.forget(key);
    const stored = await beginStored(this.db, key);
    const known = isSameVersion(stored.of, served.of) ? seenIn(stored.seen) : undefined;
    // Removed before the sample, which takes a while: the stored names may include a field that is hidden now.
    const before = known === undefined ? await removeNames(this.db, stored) : stored;
    if (before === undefined) return false;
    const head = await this.head(key);
    const sample = await sampled(this.db, served, { known, walk: before.walk });
    const after = seenAfter(known, sample);
    const changes = known === undefined ? [] : changesBetween(known, after);
    const version = before.version + (known === undefined || changes.length > 0 ? 1 : 0);
    const at = new Date();
    const told = isWorthTelling(known, before) ? changes.map((change) => ({ version, at, ...change })) : [];
    const written = await replaceStored(this.db, before, {
      ...{ ...served.key, version, of: served.of, at, head: head ?? null },
      ...{ isWhole: sample.isWhole, seen: textOfSeen(after), ...(sample.walk && { walk: sample.walk }) },
      changes: [...told, ...withoutMembersOfMaps(before.changes ?? [], after)].slice(0, MOST_CHANGES),
    });
    if (written === undefined) return false;
    this.tell(key, version, told);
    await this.forgetIfEdited(served, written);
    return true;
  }

  private async forget(key: ServiceKey): Promise<boolean> {
    const stored = await readStored(this.db, key);
    return stored === null || (await removeNames(this.db, stored)) !== undefined;
  }

  /**
   * Removes the names again if the service was edited, or its application removed, during the sample: the edit may have
   * hidden a field, and the other schemas of the application may have been removed before this one was written.
   */
  private async forgetIfEdited({ key, of }: ServedService, written: StoredSchema): Promise<void> {
    const registered = this.connection.collection(APPLICATIONS);
    const isRegistered =
      (await registered.findOne(ofTenant(key), { projection: { _id: 1 }, comment: COMMENT })) !== null;
    const now = isRegistered ? await servedVersion(this.db, key) : undefined;
    if (now === undefined || !isSameVersion(now.of, of)) await removeNames(this.db, written);
  }

  /** Names of fields are not logged. */
  private tell(
    { organizationid, appid, kind, name }: ServiceKey,
    version: number,
    told: FieldChange[],
  ): void {
    for (const { change } of told) this.metrics.schemaChanges.inc({ change });
    if (told.length > 0)
      this.log.log(
        `The schema of the ${kind} service "${name}" of ${organizationid}/${appid} has changed in ${told.length} places, and has version ${version} now`,
      );
  }

  private async head(key: ServiceKey): Promise<Date | undefined> {
    const heads = this.db.collection<Partial<StoredHead>>(HEADS);
    const head = await heads.findOne({ _id: markKey(key) });
    return head?.stamp instanceof Date ? head.stamp : undefined;
  }

  private get db(): mongo.Db {
    return this.connection.db!;
  }
}

function seenAfter(known: SeenItems | undefined, { seen, isWhole, walk }: SchemaSample): SeenItems {
  return known === undefined || isWhole ? seen : merged(known, seen, walk?.round ?? 0);
}

/** Before the first round of the walk has ended, a field may be new only to the schema, not to the records. */
function isWorthTelling(known: SeenItems | undefined, { isWhole, walk }: StoredSchema): boolean {
  if (known === undefined || known.records < FEWEST_RECORDS) return false;
  return isWhole === true || (walk?.round ?? 0) > 0;
}
