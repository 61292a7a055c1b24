import { mongo } from 'mongoose';
import { type BuiltInKind, BUILT_IN_KINDS } from '../../../src/kinds/index.js';
import type { Tenant } from '../../../src/record/index.js';
import type { ChaseStep, Content } from '../plan/index.js';
import { isExpected, type SourceRecord, type World } from '../world/index.js';
import { changedFields, newRecord } from './new-record.js';
import { UPSERTER } from './poison.js';
import { stamped } from './stamping.js';

const WATCHED_MS = 8000;
const UNREGISTERED = 'umbrella';
/** No text, so that the record belongs to no application. */
const NO_APPLICATION = 5;
const CONTENT: Content = { colour: 'red', n: 7, email: 'chased@example.org', channels: ['red'] };

/** A record that is followed, and its kind. */
interface Prey {
  kind: BuiltInKind;
  _id: mongo.ObjectId;
}

/** Another program that changes those records again and again that a write of the service is about. */
export class Chase {
  private readonly prey: Prey[] = [];

  constructor(private readonly world: World) {}

  /** A record of each kind that lacks its `id`, and is followed. */
  async insertWithoutId(): Promise<void> {
    for (const kind of BUILT_IN_KINDS) {
      const record = newRecord(this.world.source.tenant, { kind, stamp: 'right', content: CONTENT });
      await this.attempt('insertWithoutId', () => this.world.source.records(kind).insertOne(record));
      this.prey.push({ kind, _id: record._id });
    }
  }

  /** Follows those of the ids that are records, the last ones first. */
  follow(ids: mongo.ObjectId[]): void {
    for (const _id of ids) for (const kind of BUILT_IN_KINDS) this.prey.unshift({ kind, _id });
  }

  async take(steps: readonly ChaseStep[]): Promise<void> {
    for (const step of steps) {
      await this.attempt(JSON.stringify(step), () => this.world.source.ids.take(() => this.step(step)));
      if (step.isWatched) await this.world.caughtUp(WATCHED_MS).catch(() => undefined);
    }
  }

  /** Of those that are there, one that is meant more often the nearer it is to the held write. */
  private async one(pick: number): Promise<{ kind: BuiltInKind; record: SourceRecord } | undefined> {
    const there: { kind: BuiltInKind; record: SourceRecord }[] = [];
    for (const { kind, _id } of this.prey) {
      const record = await this.world.source.records(kind).findOne({ _id });
      if (record !== null) there.push({ kind, record });
    }
    return there[Math.floor(pick * pick * there.length)];
  }

  private async step(step: ChaseStep): Promise<void> {
    const { source, journal } = this.world;
    const found = await this.one(step.pick);
    if (found === undefined) return;
    const { kind, record } = found;
    for (const id of [record['id'], record._id.toHexString()])
      if (id !== undefined)
        journal.note(String(id), `chased ${record._id.toHexString()}: ${JSON.stringify(step)}`);
    if (step.to === 'nothing') await source.records(kind).deleteOne({ _id: record._id });
    const update = await this.update(kind, record, step);
    if (update !== undefined) await source.records(kind).updateOne({ _id: record._id }, update);
  }

  private async update(
    kind: BuiltInKind,
    record: SourceRecord,
    step: ChaseStep,
  ): Promise<mongo.Document | undefined> {
    const { tenant, elsewhere } = this.world.source;
    const to = (set: Partial<Tenant>) => this.toTenant(kind, record, set);
    switch (step.to) {
      case 'anotherApplication':
        return to(elsewhere);
      case 'anotherOrganization':
        return to({ organizationid: UNREGISTERED });
      case 'backAgain':
        return to(tenant);
      case 'noApplication':
        return { $set: { appid: NO_APPLICATION } };
      case 'noId':
        return record['createdBy'] === UPSERTER ? undefined : { $unset: { id: '' } };
      case 'anotherId':
        return this.toId(kind, record, step.id[kind]);
      case 'number':
      case 'text':
        return this.toId(kind, record, step.to === 'number' ? step.number : String(step.number));
      case 'anotherContent':
        return stamped(changedFields(kind, step.content), step.stamp);
      case 'nothing':
        return undefined;
    }
  }

  private async toTenant(
    kind: BuiltInKind,
    record: SourceRecord,
    set: Partial<Tenant>,
  ): Promise<mongo.Document | undefined> {
    const { organizationid, appid, id } = { ...record, ...set } as SourceRecord & Tenant;
    return (await this.isFree(kind, { organizationid, appid }, id)) ? { $set: set } : undefined;
  }

  private async toId(
    kind: BuiltInKind,
    record: SourceRecord,
    id: string | number,
  ): Promise<mongo.Document | undefined> {
    const { organizationid, appid } = record as SourceRecord & Tenant;
    return (await this.isFree(kind, { organizationid, appid }, id)) ? { $set: { id } } : undefined;
  }

  private async isFree(kind: BuiltInKind, tenant: Tenant, id: unknown): Promise<boolean> {
    return typeof id !== 'string' || (await this.world.source.isFree(kind, id, tenant));
  }

  private async attempt(what: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!isExpected(error)) throw error;
      this.world.journal.noteForAll(`chase refused: ${what}: ${(error as Error).message}`);
    }
  }
}
