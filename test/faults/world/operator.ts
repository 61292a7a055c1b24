import { hashPassword } from '../../../src/auth/index.js';
import { PASSWORD } from '../../support/index.js';
import { CREATED_KINDS, type CreatedKind, DEAR, type ServiceName, VIEWS } from '../plan/index.js';
import { persistently } from './expected.js';
import type { RecordSource } from './source.js';

export const USERNAME = 'follower';

const passwordHash = hashPassword(PASSWORD);

/** Keeps the collections that belong to the operator, by hand. */
export class FaultOperator {
  /** `createsKinds`: not if a version runs that knows of no created kinds. */
  constructor(
    private readonly source: RecordSource,
    readonly createsKinds = false,
  ) {}

  async furnish(): Promise<void> {
    const { db, tenant, elsewhere } = this.source;
    await db.collection('applications').insertMany([{ ...tenant }, { ...elsewhere }]);
    await db.collection('credentials').insertOne({
      username: USERNAME,
      passwordhash: await passwordHash,
      level: 'write',
      scopes: [tenant, elsewhere],
    });
  }

  async createKind(name: CreatedKind): Promise<void> {
    await persistently(() =>
      this.kinds.updateOne({ name }, { $setOnInsert: CREATED_KINDS[name] }, { upsert: true }),
    );
  }

  async removeKind(name: CreatedKind): Promise<void> {
    await persistently(() => this.kinds.deleteOne({ name }));
  }

  /** Registers the service of prices. */
  async registerDear(): Promise<void> {
    const { name, filter } = DEAR;
    await this.services.insertOne({ ...this.source.tenant, kind: 'price', name, filter, enabled: true });
  }

  /** Registers a service of products, or changes its filter and its fields; it is on afterwards. */
  async register(name: ServiceName, view: number): Promise<void> {
    const { filter, fields } = VIEWS[view]!;
    const set = { filter, enabled: true, allowHiddenFilter: true, fields: fields ?? null };
    await persistently(() => this.services.updateOne(this.key(name), { $set: set }, { upsert: true }));
  }

  async disable(name: ServiceName): Promise<void> {
    await persistently(() => this.services.updateOne(this.key(name), { $set: { enabled: false } }));
  }

  async remove(name: ServiceName): Promise<void> {
    await persistently(() => this.services.deleteOne(this.key(name)));
  }

  private get kinds() {
    return this.source.db.collection('kinds');
  }

  private get services() {
    return this.source.db.collection('services');
  }

  private key(name: ServiceName) {
    return { ...this.source.tenant, kind: 'product', name };
  }
}
