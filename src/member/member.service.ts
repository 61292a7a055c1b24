import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { shown } from '../platform/common/index.js';
import { allows, problems } from '../platform/http/index.js';
import type { Tenant } from '../record/index.js';
import { KnownHeads } from '../replication/store/index.js';
import { type Actor, TrailNotes } from '../trail/index.js';
import type { BsonDocument, Change } from './merge.js';
import { MemberStore, type NewMember } from './member.store.js';
import type { StoredMember } from './stored-member.js';

const MOST_NAMES = 50;
const LONGEST_NAME = 100;

/** The member of a patch, and the `If-Match` that the patch requires. */
interface Target {
  tenant: Tenant;
  id: string;
  ifMatch: string | undefined;
  /** Who changes it, for the audit trail. */
  actor: Actor;
}

@Injectable()
export class MemberService {
  constructor(
    private readonly store: MemberStore,
    private readonly heads: KnownHeads,
    private readonly trail: TrailNotes,
  ) {}

  async create(
    tenant: Tenant,
    member: NewMember,
    actor: Actor,
  ): Promise<{ id: string; member: StoredMember }> {
    const id = randomUUID();
    const stored = this.written(tenant, await this.store.insert(tenant, id, member));
    this.trail.note(actor, { action: 'member.create', ...tenant, target: `member ${id}` });
    return { id, member: stored };
  }

  /** Throws 404 if the application has no such member. */
  async read(tenant: Tenant, id: string): Promise<StoredMember> {
    const member = await this.store.find(tenant, id);
    if (member === undefined) throw problems.unknownMember(shown(id));
    return member;
  }

  /**
   * Reads the member, computes the changes with `merge`, and writes them unless the member has changed in the
   * meantime. Writes nothing if there are no changes. Throws 404, then 412, then 400 or 409.
   */
  async patch(
    { tenant, id, ifMatch, actor }: Target,
    merge: (record: BsonDocument) => Change[],
  ): Promise<StoredMember> {
    const read = await this.read(tenant, id);
    if (!allows(ifMatch, read.etag)) throw problems.stale(ifMatch);
    const changes = merge(read.record());
    if (changes.length === 0) return read;
    const written = await this.store.update(tenant, read, merge);
    if (written !== undefined) {
      const changed = namesOf(changes);
      this.trail.note(actor, { action: 'member.change', ...tenant, target: `member ${id}`, changed });
      return this.written(tenant, written);
    }
    await this.read(tenant, id);
    throw problems.memberModified();
  }

  /**
   * Reports the stamp of a write by this instance, so that the next `max` of this instance includes the write even
   * before the watcher has reported it.
   */
  private written({ organizationid, appid }: Tenant, member: StoredMember): StoredMember {
    const stamp = member.record().get('lastupdated');
    if (stamp instanceof Date) this.heads.wrote({ organizationid, appid, kind: 'member' }, stamp);
    return member;
  }
}

/** The names of the changed properties, truncated to the limits of an audit trail entry. */
function namesOf(changes: Change[]): string[] {
  return changes.slice(0, MOST_NAMES).map(({ path }) => path.join('.').slice(0, LONGEST_NAME));
}
