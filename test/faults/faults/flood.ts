import { setTimeout as wait } from 'node:timers/promises';
import { mongo } from 'mongoose';
import type { Tenant } from '../../../src/record/index.js';
import { markKey, RAISE } from '../../../src/replication/protocol/index.js';
import { MARKS } from '../../../src/replication/store/plain.js';
import { type FloodPart, type FloodPlan, type FloodStep, HOUSE_KINDS, type Stamp } from '../plan/index.js';
import { changedFields, newRecord, stamped } from '../workload/index.js';
import { isExpected, persistently, type SourceRecord, type World } from '../world/index.js';

/** Nobody else gives such `id`s, but for the service to records that have none. */
const PREFIX = 'flood-';
const OWN_ID = { $in: [null, new RegExp(`^${PREFIX}`), /^[0-9a-f]{8}-[0-9a-f]{4}-/] };

/** A bulk in one application while others are read, too: so large that the leader works it through beside them. */
export async function flood(world: World, plan: FloodPlan): Promise<void> {
  const one = new Flood(world, plan);
  await one.raiseMarks();
  await one.come();
  for (const [index, step] of plan.steps.entries()) {
    await wait(plan.pauses[index]);
    await one.take(step);
  }
  await one.go();
}

class Flood {
  private readonly name = `${PREFIX}${new mongo.ObjectId().toHexString()}`;
  private readonly home: Tenant;
  private readonly other: Tenant;

  constructor(
    private readonly world: World,
    private readonly plan: FloodPlan,
  ) {
    const { tenant, elsewhere } = world.source;
    [this.home, this.other] = plan.isElsewhere ? [elsewhere, tenant] : [tenant, elsewhere];
  }

  /** An application that nobody else waits beside is never put aside. */
  async raiseMarks(): Promise<void> {
    const marks = this.world.source.db.collection<{ _id: object }>(MARKS);
    for (const tenant of [this.home, this.other])
      for (const kind of HOUSE_KINDS)
        await persistently(() =>
          marks.updateOne({ _id: markKey({ ...tenant, kind }) }, RAISE, { upsert: true }),
        );
  }

  async come(): Promise<void> {
    const { kind, count, without, stamp, content } = this.plan;
    const records = Array.from({ length: count }, (_, index): SourceRecord => {
      const own = { ...content, email: `${this.name}-${index}@example.org` };
      const id =
        without > 0 && index % Math.floor(count / without) === 0 ? {} : { id: `${this.name}-${index}` };
      const record = newRecord(this.home, { kind, stamp, content: own, ...id });
      const data = { ...(record['data'] as object), place: index / count, index };
      return { ...record, createdBy: this.name, data };
    });
    await this.attempt('come', () => this.records.insertMany(records));
  }

  async take(step: FloodStep): Promise<void> {
    await this.attempt(JSON.stringify(step), () => this.step(step));
  }

  /** All but a few. What came must go, whatever happens: nobody can read thousands of records for ever. */
  async go(): Promise<void> {
    const stride = Math.ceil(this.plan.count / this.plan.kept);
    const going = { createdBy: this.name, 'data.index': { $not: { $mod: [stride, 0] } } };
    const { deletedCount } = await persistently(() => this.records.deleteMany(going));
    this.note(`go: ${deletedCount}`);
  }

  private get records(): mongo.Collection<SourceRecord> {
    return this.world.source.records(this.plan.kind);
  }

  private step(step: FloodStep): Promise<unknown> {
    switch (step.to) {
      case 'anotherContent':
        return this.records.updateMany(this.part(step), this.changed(step));
      case 'otherApplication':
        return this.move(step, this.home, this.other);
      case 'backAgain':
        return this.move({ ...step, start: 0, end: 1 }, this.other, this.home);
      case 'nothing':
        return this.records.deleteMany(this.part(step));
    }
  }

  /** E-mails stay what they are: thousands of members with the same one are another matter. */
  private changed({ stamp, content }: Extract<FloodStep, { to: 'anotherContent' }>): mongo.Document {
    const { 'data.email': _, ...fields } = changedFields(this.plan.kind, content);
    return stamped(fields, stamp);
  }

  private async move(
    { stamp, ...part }: FloodPart & { stamp: Stamp },
    from: Tenant,
    to: Tenant,
  ): Promise<void> {
    const moving = { ...from, ...this.part(part), id: OWN_ID };
    await this.world.source.ids.take(() =>
      this.records.updateMany(moving as mongo.Filter<SourceRecord>, stamped({ ...to }, stamp)),
    );
  }

  private part({ start, end }: FloodPart): mongo.Document {
    return { createdBy: this.name, 'data.place': { $gte: start, $lt: end } };
  }

  private async attempt(what: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
      this.note(what);
    } catch (error) {
      if (!isExpected(error)) throw error;
      this.note(`refused: ${what}: ${(error as Error).message}`);
    }
  }

  private note(what: string): void {
    this.world.journal.noteForAll(`${this.name} ${what.slice(0, 200)}`);
  }
}
