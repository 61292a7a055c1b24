import { mongo } from 'mongoose';
import { type Stored, type TestApplication, TestService } from '../support/index.js';

/** What the examples name. */
const TENANT = { organizationid: 'demo', appid: 'shop' };
const SERVICE = 'bikes';
const RECORDS = Number(process.env['TIDEMARK_CONNECTORS_RECORDS'] ?? '3000');
/** So many of each sort in one round of changes. */
const SHARE = Math.min(Math.floor(RECORDS / 40), 500);
/** The watcher works through so many while a test waits. */
const AT_ONCE = 5000;
const NAMES = ['Rad "Elbe", 28 Zoll', "Fahrrad d'Or\n2. Zeile", 'Велосипед; 自行车 🚲', ''];

const bike = (n: number) => ({ category: 'bikes', n, name: NAMES[n % NAMES.length] });
const idOf = (n: number) => `bike-${String(n).padStart(6, '0')}`;

/** By `id`: the stamp and `data` as JSON. */
export type Copy = Map<string, string>;

export function held(lastupdated: Date | number, data: Record<string, unknown>): string {
  return JSON.stringify([new Date(lastupdated), data['category'], data['n'], data['name']]);
}

/** The records that the tools harvest, changed by another program as time goes on. */
export class Catalogue {
  private next = RECORDS;
  private oldest = 0;

  private constructor(
    readonly service: TestService,
    readonly app: TestApplication,
  ) {}

  static async begin(): Promise<Catalogue> {
    const service = await TestService.start();
    const app = await service.application(TENANT);
    await app.filter('product', SERVICE, { 'data.category': 'bikes' });
    const source = new Catalogue(service, app);
    for (let made = 0; made < RECORDS; made += AT_ONCE) {
      await source.make(made, Math.min(AT_ONCE, RECORDS - made));
      await service.watcher.caughtUp();
    }
    await app.products(SHARE, (index) => ({ id: `tent-${index}`, data: { category: 'tents' } }));
    await service.watcher.caughtUp();
    return source;
  }

  /**
   * A round: some records leave the filter and as many are deleted, half of either is seen again, as many are edited, and a
   * few are new. Tells what is not to be held any more.
   */
  async change(): Promise<string[]> {
    const left = this.take(SHARE);
    const gone = this.take(SHARE);
    const edited = this.take(SHARE);
    // Nobody else gives these a new stamp: the watcher sees that they moved.
    await this.update(left, { $set: { 'data.category': 'tents' } });
    await this.products.deleteMany({ ...TENANT, id: { $in: gone } });
    await this.update(edited, { $inc: { 'data.n': RECORDS }, $currentDate: { lastupdated: true } });
    await this.make(this.next, SHARE);
    this.next += SHARE;
    return [...left, ...gone];
  }

  /** Some of those that were not to be held any more come back. */
  async bringBack(ids: string[]): Promise<void> {
    await this.update(ids, { $set: { 'data.category': 'bikes' }, $currentDate: { lastupdated: true } });
    const there = await this.products.find({ ...TENANT, id: { $in: ids } }).toArray();
    const missing = ids.filter((id) => !there.some((record) => record['id'] === id));
    await this.app.products(missing.length, (index) => ({ id: missing[index], data: bike(index) }));
  }

  /** Behind the address of the service. */
  readonly path = `${TENANT.organizationid}/${TENANT.appid}/api/v1/product/${SERVICE}`;

  /** As retention does: no delete up to now is known any more. */
  async forgetHardDeletes(): Promise<void> {
    await this.service.watcher.caughtUp();
    const _id = { ...TENANT, kind: 'product' };
    const { db } = this.service;
    await db.collection('tidemark.ledger').deleteMany({ ..._id, alive: false });
    const horizons = db.collection<{ _id: object; lastupdated: Date }>('tidemark.horizons');
    await horizons.insertOne({ _id, lastupdated: await this.app.max('product') });
  }

  /** What a copy has to hold. */
  async copy(): Promise<Copy> {
    const records = await this.products.find({ ...TENANT, 'data.category': 'bikes' }).toArray();
    return new Map(
      records.map(({ id, lastupdated, data }) => [
        id as string,
        held(lastupdated as Date, data as object as Record<string, unknown>),
      ]),
    );
  }

  private get products(): mongo.Collection<Stored> {
    return this.service.db.collection<Stored>('products');
  }

  private make(from: number, count: number): Promise<unknown> {
    return this.app.products(count, (index) => ({ id: idOf(from + index), data: bike(from + index) }));
  }

  private async update(ids: string[], update: mongo.UpdateFilter<Stored>): Promise<void> {
    await this.products.updateMany({ ...TENANT, id: { $in: ids } }, update);
  }

  /** Each record is changed in one round only. */
  private take(count: number): string[] {
    this.oldest += count;
    return Array.from({ length: count }, (_, index) => idOf(this.oldest - count + index));
  }
}
