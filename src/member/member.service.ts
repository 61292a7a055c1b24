import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { problems } from '../http/index.js';
import type { Tenant } from '../record/index.js';
import { KnownHeads } from '../replication/mark/index.js';
import type { BsonDocument } from './document.js';
import { allows } from './etag.js';
import { MemberStore } from './member.store.js';
import type { Change } from './merge/change.js';
import type { NewMember } from './new-member.js';
import type { StoredMember } from './stored-member.js';

/** Which member a patch means, and the `If-Match` under which it may be made. */
export interface Target {
  tenant: Tenant;
  id: string;
  ifMatch: string | undefined;
}

@Injectable()
export class MemberService {
  constructor(
    private readonly store: MemberStore,
    private readonly heads: KnownHeads,
  ) {}

  async create(tenant: Tenant, member: NewMember): Promise<{ id: string; member: StoredMember }> {
    const id = randomUUID();
    return { id, member: this.written(tenant, await this.store.insert(tenant, id, member)) };
  }

  /** Throws 404 where the application has no such member. */
  async read(tenant: Tenant, id: string): Promise<StoredMember> {
    const member = await this.store.find(tenant, id);
    if (member === undefined) throw problems.unknownMember(id);
    return member;
  }

  /**
   * Reads the member, lets `merge` say what has to change, and writes that if nobody changed the member meanwhile.
   * Where nothing has to change nothing is written. Throws 404, 412 and 409, in this order.
   */
  async patch(
    { tenant, id, ifMatch }: Target,
    merge: (record: BsonDocument) => Change[],
  ): Promise<StoredMember> {
    let read = await this.read(tenant, id);
    if (!allows(ifMatch, read.etag)) throw problems.preconditionFailed();
    let changes = merge(read.record());
    if (changes.length === 0) return read;
    if (await this.store.makeSingle(tenant, read, changes)) {
      read = await this.read(tenant, id);
      changes = merge(read.record());
    }
    const written = await this.store.update(tenant, read, changes);
    if (written !== undefined) return this.written(tenant, written);
    await this.read(tenant, id);
    throw problems.memberModified();
  }

  /** What this instance has written the next `max` here counts, before the watcher has told of it. */
  private written({ organizationid, appid }: Tenant, member: StoredMember): StoredMember {
    const stamp = member.record().get('lastupdated');
    if (stamp instanceof Date) this.heads.wrote({ organizationid, appid, kind: 'member' }, stamp);
    return member;
  }
}
