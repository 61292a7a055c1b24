import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import { emailKeyOf } from '../../member/index.js';
import { COLLECTION_OF, FIRST_ID } from '../../record/index.js';
import type { Job } from '../progress/index.js';
import { type EmailDuplicate, type EmailHolder, isSameKey } from './email-duplicate.schema.js';
import { EmailDuplicates } from './email-duplicates.js';
import { EmailKeys, type WantedKey } from './email-keys.js';
import { isDeliverable, PRESENT, type PresentRecord } from './present-record.js';

const AT_ONCE = 1000;
const FREED_AT_ONCE = 50;
/** A key may be freed while those that wait for it are gone or want another; the walk finds what is left. */
const MOST_LOOKS = 20;
const BETWEEN_SLICES_MS = 1000;
const BETWEEN_WALKS_MS = 600_000;

/**
 * Gives keys that became free to those that wait for them. After a batch it looks only at the members of the batch: what
 * they gave up, and whether they wait themselves. Beside the stream it walks slowly over all that wait.
 */
@Injectable()
export class EmailReview implements Job {
  readonly name = 'The review of duplicate e-mails';
  private behind = FIRST_ID;

  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly duplicates: EmailDuplicates,
    private readonly keys: EmailKeys,
  ) {}

  /** Looks at members that were written or deleted. Those that were noted as duplicates just now need no look for that. */
  async review(members: mongo.ObjectId[], justNoted: mongo.ObjectId[]): Promise<void> {
    if (members.length === 0) return;
    const noted = new Set(justNoted.map(String));
    await this.settle(await this.duplicates.among(members.filter((_id) => !noted.has(String(_id)))));
    const wanted = await this.duplicates.wantedOf(members);
    if (wanted.length === 0) return;
    const present = new Map((await this.present(wanted)).map((member) => [String(member._id), member]));
    const freed = wanted.filter((one) => !isHolding(present.get(String(one._id)), one));
    for (let start = 0; start < freed.length; start += FREED_AT_ONCE)
      await Promise.all(freed.slice(start, start + FREED_AT_ONCE).map((one) => this.pass(one)));
    await this.duplicates.release(freed);
  }

  /** One slice of the walk. */
  async step(): Promise<number> {
    const some = await this.duplicates.behind(this.behind, AT_ONCE);
    await this.retry(some);
    this.behind = some.at(-1)?._id ?? FIRST_ID;
    return some.length === AT_ONCE ? BETWEEN_SLICES_MS : BETWEEN_WALKS_MS;
  }

  /** Gives a freed key to the first that waits for it and still wants it. */
  private async pass(freed: EmailHolder): Promise<void> {
    for (let look = 0; look < MOST_LOOKS; look += 1) {
      const next = await this.duplicates.next(freed);
      if (next === null) return;
      await this.retry([next]);
      const [still] = await this.duplicates.among([next._id]);
      if (still !== undefined && isSameKey(still, freed)) return;
      const [member] = await this.present([next]);
      if (!isHolding(member, freed)) continue;
      return this.duplicates.hold({ ...freed, _id: next._id });
    }
  }

  /** Those that want another key than they wait for, or none, or are gone, wait no more. */
  private async settle(waiting: EmailDuplicate[]): Promise<void> {
    if (waiting.length === 0) return;
    const present = new Map((await this.present(waiting)).map((member) => [String(member._id), member]));
    const isWaiting = (one: EmailDuplicate) => {
      const member = present.get(String(one._id));
      const wanted = member && wantedBy(member);
      return wanted !== undefined && isSameKey(wanted, one);
    };
    await this.duplicates.settle(waiting.filter((one) => !isWaiting(one)));
  }

  /** Those that have the key they want, or want none, wait no more; the others get theirs where it is free. */
  private async retry(waiting: EmailDuplicate[]): Promise<void> {
    if (waiting.length === 0) return;
    const present = await this.present(waiting);
    const wanted = present.flatMap((member) => wantedBy(member) ?? []);
    const refused = new Set((await this.keys.set(wanted)).map(String));
    await this.duplicates.settle(waiting.filter(({ _id }) => !refused.has(String(_id))));
  }

  private present(members: { _id: mongo.ObjectId }[]): Promise<PresentRecord[]> {
    return this.connection
      .collection(COLLECTION_OF.member)
      .aggregate<PresentRecord>([
        { $match: { _id: { $in: members.map(({ _id }) => _id) } } },
        { $project: PRESENT },
      ])
      .toArray();
  }
}

function wantedBy(member: PresentRecord): WantedKey | undefined {
  if (!isDeliverable(member)) return undefined;
  const emailkey = emailKeyOf(member.email) ?? null;
  if (emailkey === null || emailkey === member.emailkey) return undefined;
  const { _id, organizationid, appid, email } = member;
  return { _id, organizationid, appid, email, emailkey, hasOther: member.emailkey !== null };
}

function isHolding(member: PresentRecord | undefined, key: EmailHolder): boolean {
  if (member === undefined || !isDeliverable(member) || typeof member.emailkey !== 'string') return false;
  return isSameKey({ ...member, emailkey: member.emailkey }, key);
}
