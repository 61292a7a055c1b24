import { randomUUID } from 'node:crypto';
import argon2 from '@node-rs/argon2';
import { mongo } from 'mongoose';
import type { Level } from '../../src/auth/index.js';
import { describedKind, type Kind } from '../../src/kinds/index.js';
import { type Answer, send, type SendOptions } from './answer.js';
import { defaultsHidingCanary, hidingCanary, withCanary } from './canaries.js';
import { eventually } from './eventually.js';
import { TestFeed } from './feed.js';
import { onceServed } from './patience.js';
import type { TestService } from './service.js';
import { stored, storedUpdate } from './wares.js';

export const PASSWORD = 'correct horse battery staple';
/** At the least cost that argon2id has: each first login of a credential compares it. */
const passwordHash = argon2.hash(PASSWORD, { memoryCost: 8, timeCost: 1, parallelism: 1 });

/** The database reads its clock every 10 ms only: a stamp taken here this instant could still lie ahead of it. */
const BEHIND_MS = 50;

export type Stored = mongo.Document & { _id: mongo.ObjectId };

/** One application with its credentials, as its operator, its foreign writers and its clients see it. */
export class TestApplication {
  private constructor(
    readonly service: TestService,
    readonly organizationid: string,
    readonly appid: string,
  ) {}

  static async create(
    service: TestService,
    { organizationid, appid, settings }: { organizationid?: string; appid?: string; settings?: object },
  ): Promise<TestApplication> {
    const app = new TestApplication(service, organizationid ?? `org-${short()}`, appid ?? `app-${short()}`);
    const levels = ['read', 'write', 'admin'] as const;
    const credentials = levels.map((level) => app.usable({ username: app.user(level), level }));
    await service.db.collection('applications').insertOne({ ...app.tenant, ...(settings && { settings }) });
    await service.db.collection('credentials').insertMany(await Promise.all(credentials));
    const defaults = defaultsHidingCanary(app.tenant);
    if (defaults.length > 0) await service.db.collection('services').insertMany(defaults);
    return app;
  }

  /** The same application, through another instance on the same database. */
  seenBy(service: TestService): TestApplication {
    return new TestApplication(service, this.organizationid, this.appid);
  }

  get tenant(): { organizationid: string; appid: string } {
    return { organizationid: this.organizationid, appid: this.appid };
  }

  /** The user name of the credential of a level. */
  user(level: Level): string {
    return `${level}-${this.organizationid}-${this.appid}`;
  }

  async credential(fields: mongo.Document = {}): Promise<string> {
    const username = String(fields['username'] ?? `user-${short()}`);
    await this.service.db.collection('credentials').insertOne(await this.usable({ ...fields, username }));
    return username;
  }

  private async usable(fields: mongo.Document): Promise<mongo.Document> {
    return { passwordhash: await passwordHash, level: 'read', scopes: [this.tenant], ...fields };
  }

  /** Registers a service, as an operator does by hand, and waits until the watcher has seen it. */
  async filter(kind: Kind, name: string, filter: mongo.Document, more: mongo.Document = {}): Promise<void> {
    const document = hidingCanary({ ...this.tenant, kind, name, filter, ...more });
    await this.service.db.collection('services').insertOne(document);
    await this.service.watcher.caughtUp();
  }

  /** A product, as another program writes it: with a stamp of the database's clock unless given. */
  product(fields: mongo.Document = {}): Promise<Stored> {
    return this.put('product', fields);
  }

  /** A member, as another program writes it. */
  member(fields: mongo.Document = {}): Promise<Stored> {
    return this.put('member', fields);
  }

  /** Many products at once, with stamps of the database's clock unless given. */
  products(count: number, fields?: (index: number) => mongo.Document): Promise<Stored[]> {
    return this.many('product', count, fields);
  }

  /** The same of any kind. */
  async many(
    kind: Kind,
    count: number,
    fields: (index: number) => mongo.Document = () => ({}),
  ): Promise<Stored[]> {
    const records = Array.from({ length: count }, (_, index) => this.record(kind, fields(index)));
    await this.service.records(kind).insertMany(records.map((record) => stored(kind, withCanary(record))));
    return records;
  }

  /** A record of any kind, as another program writes it. Answers it as if it were a product or a member. */
  async put(kind: Kind, fields: mongo.Document = {}): Promise<Stored> {
    const record = this.record(kind, fields);
    await this.service.records(kind).insertOne(stored(kind, withCanary(record)));
    return record;
  }

  /** Changes a record in its collection, as another program does. */
  async change(kind: Kind, { _id }: Stored, update: mongo.Document): Promise<void> {
    await this.service.records(kind).updateOne({ _id }, storedUpdate(kind, update));
  }

  /** Deletes a record from its collection, and waits until the watcher has seen it. */
  async remove(kind: Kind, { _id }: Stored): Promise<void> {
    await this.service.records(kind).deleteOne({ _id });
    await this.service.watcher.caughtUp();
  }

  /** Waits until the clock is beyond what was announced: a stamp that is taken now comes in time. */
  async beyondFence(kind: Kind): Promise<void> {
    const marks = this.service.db.collection<{ _id: object; fence: Date }>('tidemark.marks');
    const mark = await marks.findOne({ _id: { ...this.tenant, kind } });
    await eventually(() => mark === null || new Date() > mark.fence);
  }

  feed(kind: Kind, service = 'default'): TestFeed {
    return new TestFeed(this, `${kind}/${service}/updates`);
  }

  softDeletes(kind: Kind, service = 'default'): TestFeed {
    return new TestFeed(this, `${kind}/${service}/softdeletes`);
  }

  hardDeletes(kind: Kind): TestFeed {
    return new TestFeed(this, `${kind}/harddeletes`);
  }

  channel(channel: string, feed: 'updates' | 'softdeletes' = 'updates'): TestFeed {
    return new TestFeed(this, `productbychannel/${encodeURIComponent(channel)}/${feed}`);
  }

  async max(kind: Kind): Promise<Date> {
    const answer = await onceServed(() => this.get(`${kind}/max`));
    if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
    return new Date((answer.json as { offset: string }).offset);
  }

  /** GET of a path behind `/{org}/{app}/api/v1/`. */
  get(path: string, options: SendOptions = {}): Promise<Answer> {
    return this.send('GET', `api/v1/${path}`, { user: this.user('read'), ...options });
  }

  /** GET of a URL of the service, absolute or as a path. */
  getUrl(url: string): Promise<Answer> {
    return send(new URL(url, this.service.url).href, 'GET', { user: this.user('read') });
  }

  /** The URL of a path behind `/{org}/{app}/`. */
  urlOf(path: string): string {
    return `${this.service.url}/${this.organizationid}/${this.appid}/${path}`;
  }

  /** Any method on a path behind `/{org}/{app}/`. */
  send(method: string, path: string, options: SendOptions = {}): Promise<Answer> {
    return send(this.urlOf(path), method, {
      user: this.user('write'),
      ...options,
    });
  }

  private record(kind: Kind, fields: mongo.Document): Stored {
    const now = new Date(Date.now() - BEHIND_MS);
    const _id = new mongo.ObjectId();
    return {
      _id,
      ...this.tenant,
      id: _id.toHexString(),
      createDate: now,
      createdBy: 'erp',
      lastupdated: now,
      data: {},
      type: kind,
      ...(describedKind(kind).alwaysHasChannels && { channels: [] }),
      ...fields,
    };
  }
}

function short(): string {
  return randomUUID().slice(0, 8);
}
