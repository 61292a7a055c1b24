import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import mongoose, { type mongo } from 'mongoose';
import { literal } from '../platform/common/index.js';
import {
  alongIndexIfAny,
  CLOCK,
  COMMAND_MS,
  isDuplicateKey,
  isRefusedByValidator,
  transactionWithin,
} from '../platform/database/index.js';
import { Problem, problems } from '../platform/http/index.js';
import {
  BY_EMAIL_KEY,
  BY_RECORD_ID,
  DELIVERABLE,
  idTextAt,
  isNumberText,
  isSingleAlong,
  modelOf,
  type RecordDocument,
  STAMP,
  stampDoubled,
  type Tenant,
} from '../record/index.js';
import { PERSON_KIND } from '../kinds/index.js';
import { LEDGER } from '../replication/store/index.js';
import type { CreateMember } from './bodies.js';
import { type BsonDocument, type Change, emailKeyOf, memberData, setOf } from './merge.js';
import { isFaithful, StoredMember } from './stored-member.js';
import { validatorFaults } from './body-faults.js';

const { MongoServerError, ObjectId } = mongoose.mongo;

/** The driver returns the raw bytes. */
const RAW = { raw: true } as const;

/** The index by `id` contains only texts, and MongoDB uses it only for queries that state the type. */
const INDEXED = { $type: 'string' } as const;

/** A command has at most 16 MiB. Records that leave too little room in it are compared by their stamp only. */
const LARGEST_COMPARED = 8 * 1024 * 1024;

/** Maximum number of occurrences of a name that can be reduced to one. */
const MOST_DOUBLES = 100;

/** Maximum length of the names of the fields of an index in an error, in characters. */
const LONGEST_SHOWN = 200;

/** MongoDB's error codes for a document over 16 MiB, before and during its write. */
const TOO_LARGE = new Set([10334, 17419]);

/** The values of a new member that come from the client. */
export interface NewMember {
  body: CreateMember;
  createdBy: string;
}

/** Reads and writes the members of an application, as raw BSON. */
@Injectable()
export class MemberStore {
  constructor(@InjectModel(modelOf(PERSON_KIND)) private readonly members: mongoose.Model<RecordDocument>) {}

  /** The member with this `id`; undefined if none can be served. */
  async find(tenant: Tenant, id: string): Promise<StoredMember | undefined> {
    const asText = { $eq: id, ...INDEXED };
    const filter = { ...tenant, id: asText, _id: { $type: 'objectId' as const }, $and: [DELIVERABLE] };
    const found = asMember(
      await alongIndexIfAny(this.collection, BY_RECORD_ID, (along) =>
        this.collection.findOne(filter, { ...RAW, ...along }),
      ),
    );
    return found ?? (isNumberText(id) ? this.findByNumber(tenant, id) : undefined);
  }

  /**
   * Stores a new member in one atomic operation. Throws 409 if its e-mail is taken or a unique index of another program
   * refuses it, 400 if a validator does.
   */
  async insert(tenant: Tenant, id: string, member: NewMember): Promise<StoredMember> {
    const stored = await this.collection
      .findOneAndUpdate({ _id: new ObjectId(), ...tenant, id }, newMemberPipeline(member), {
        ...RAW,
        upsert: true,
        returnDocument: 'after',
      })
      .catch(explained);
    return asMember(stored) as StoredMember;
  }

  /**
   * Writes the changes that `merge` computes if the member is still as it was read; otherwise does nothing. Throws 409 if
   * the e-mail is taken or a unique index of another program refuses the member, 400 if a validator does or if it would be
   * too large.
   *
   * Other programs may have stored a name more than once in a document. The duplicates of the names to be changed and of
   * `lastupdated` are removed first, in the same transaction, so that every reader sees the change. Those of `emailkey`
   * stay, since MongoDB uses the first one: without it, the next one would be in the unique index. Throws 400 if a
   * document on the path of a change occurs more than once, because it is unclear which one is meant, or if a name to be
   * changed has too many duplicates.
   */
  async update(
    tenant: Tenant,
    read: StoredMember,
    merge: (record: BsonDocument) => Change[],
  ): Promise<StoredMember | undefined> {
    const changes = merge(read.record());
    const isKeyDoubled = isDoubled(read, 'emailkey');
    const keyed = isKeyDoubled ? changes.find(isOfKey) : undefined;
    const removals = changes.filter((one) => one !== keyed).flatMap(({ path }) => removalsOf(read, path));
    const isStampDoubled = isDoubled(read, 'lastupdated');
    if (removals.length === 0 && !isStampDoubled && keyed === undefined)
      return this.updateSingle(tenant, read, changes);
    const _id = idOf(read);
    return transactionWithin(this.members.db.getClient(), COMMAND_MS, async (session) => {
      const stored = await this.findAgain(tenant, _id, session);
      if (stored === undefined || Buffer.compare(stored.raw, read.raw) !== 0) return undefined;
      // The removals would be committed, and the write after them would match nothing.
      if (isDoubled(stored, 'emailkey') !== isKeyDoubled) return undefined;
      const stamp = { ids: [_id], names: ['lastupdated'], options: { session } };
      if (isStampDoubled) await stampDoubled(this.collection, stamp).catch(explained);
      if (keyed !== undefined) {
        const update = { $set: { emailkey: keyed.value } };
        await this.collection.updateOne({ _id }, update, { session }).catch(explained);
      }
      if (removals.length > 0) {
        const writes = removals.map((update) => ({ updateOne: { filter: { _id }, update } }));
        await this.collection.bulkWrite(writes, { session }).catch(explained);
      }
      const single = (await this.findAgain(tenant, _id, session))!;
      // The e-mail that is left may be the new one, but its key may be that of a duplicate.
      const left = [...changes.filter(isOfKey), ...merge(single.record())];
      const others = isKeyDoubled ? left.filter((one) => !isOfKey(one)) : left;
      return this.updateSingle(tenant, single, others, session);
    });
  }

  private async updateSingle(
    tenant: Tenant,
    read: StoredMember,
    changes: Change[],
    session?: mongo.ClientSession,
  ): Promise<StoredMember | undefined> {
    const stored = await this.collection
      .findOneAndUpdate(
        { ...tenant, _id: idOf(read), ...unchanged(read, changes), $and: [DELIVERABLE] },
        [{ $set: setOf(changes).set('lastupdated', STAMP) }],
        { ...RAW, returnDocument: 'after', ...(session && { session }) },
      )
      .catch(explained);
    return asMember(stored);
  }

  private async findAgain(
    tenant: Tenant,
    _id: mongo.ObjectId,
    session: mongo.ClientSession,
  ): Promise<StoredMember | undefined> {
    const filter = { ...tenant, _id, $and: [DELIVERABLE] };
    return asMember(await this.collection.findOne(filter, { ...RAW, session }));
  }

  /**
   * The member whose `id` is stored as a number, and has this text. No index contains numbers, but the ledger lists the
   * member under the text as soon as it is delivered under that text.
   */
  private async findByNumber(tenant: Tenant, id: string): Promise<StoredMember | undefined> {
    const entry = await this.members.db
      .collection(LEDGER)
      .findOne({ ...tenant, kind: 'member', id: { $eq: id }, alive: true, isNumber: true });
    if (entry === null) return undefined;
    const isSame = { $expr: { $eq: [idTextAt('$id'), literal(id)] } };
    const filter = {
      ...tenant,
      _id: entry['owner'] as mongoose.mongo.ObjectId,
      ...isSame,
      $and: [DELIVERABLE],
    };
    return asMember(await this.collection.findOne(filter, { ...RAW, hint: { _id: 1 } }));
  }

  private get collection(): mongoose.mongo.Collection {
    return this.members.collection;
  }
}

/**
 * Matches the record exactly as it was read, except for `emailkey`, which the watcher may add at any time. A record
 * that is too large, or that JavaScript cannot encode to the same bytes, is compared by its stamp.
 */
function unchanged(read: StoredMember, changes: Change[]): mongoose.mongo.Document {
  const record = read.record();
  if (read.raw.length > LARGEST_COMPARED || !isFaithful(record, read.raw)) {
    const paths = [['lastupdated'], ...changes.map(({ path }) => path)];
    return {
      lastupdated: { $eq: record.get('lastupdated') ?? null },
      $expr: { $and: paths.map(isSingleAlong) },
    };
  }
  const isSame = { $eq: [{ $unsetField: { field: 'emailkey', input: '$$ROOT' } }, literal(record)] };
  return { $expr: changes.some(isOfKey) ? { $and: [isSame, isSingleAlong(['emailkey'])] } : isSame };
}

/** The updates that remove the duplicates of the last name of a path, one at a time. */
function removalsOf(read: StoredMember, path: string[]): mongo.UpdateFilter<mongo.Document>[] {
  const times = read.timesAlong(path);
  const doubled = times.findIndex((count) => count > 1);
  if (doubled < 0) return [];
  if (doubled < path.length - 1 || times[doubled]! > MOST_DOUBLES) {
    const name = path.slice(0, doubled + 1).join('.');
    const detail =
      `cannot be changed: the stored member has "${name}" ${times[doubled]} times. ` +
      'The program that wrote the member has to store that name only once.';
    throw problems.invalidRequest([{ pointer: '', detail }]);
  }
  const update = { $unset: { [path.join('.')]: '' } };
  return Array.from({ length: times[doubled]! - 1 }, () => update);
}

function isDoubled(read: StoredMember, name: string): boolean {
  return read.timesAlong([name])[0]! > 1;
}

function isOfKey({ path }: Change): boolean {
  return path[0] === 'emailkey';
}

function idOf(member: StoredMember): mongo.ObjectId {
  return member.record().get('_id') as mongo.ObjectId;
}

/** With `raw` the driver returns bytes, although its types declare a document. */
function asMember(found: unknown): StoredMember | undefined {
  return found === null ? undefined : new StoredMember(found as Uint8Array);
}

function explained(error: unknown): never {
  if (isDuplicateKey(error)) {
    // The error of a bulk has no pattern.
    const fields = Object.keys((error as { keyPattern?: object }).keyPattern ?? {});
    // Another index may contain the key too, such as one that joins applications.
    const isOwn = fields.join() === Object.keys(BY_EMAIL_KEY).join();
    throw isOwn ? problems.emailConflict() : refusedByIndex(fields);
  }
  if (isRefusedByValidator(error)) throw problems.refusedByValidator(validatorFaults(error));
  if (error instanceof MongoServerError && TOO_LARGE.has(Number(error.code))) {
    const detail =
      'would make the member larger than the 16 MiB that MongoDB stores. Delete something from it first.';
    throw problems.invalidRequest([{ pointer: '', detail }]);
  }
  throw error;
}

/** The problem of a member that a unique index of another program refuses. It names fields, never a value. */
function refusedByIndex(fields: string[]): Problem {
  const over = fields.length === 0 ? '' : ` over ${fields.join(', ').slice(0, LONGEST_SHOWN)}`;
  return new Problem(
    409,
    'refused-by-index',
    'The member violates a unique index',
    `The collection "members" has a unique index${over}, and another member has the same value there. Send another value.`,
  );
}

/** The pipeline that fills an upserted member. Both dates are the same time of the database's clock. */
function newMemberPipeline({ body, createdBy }: NewMember): mongo.Document[] {
  return [
    { $set: { type: literal('member'), createDate: CLOCK, createdBy: literal(createdBy) } },
    {
      $set: {
        lastupdated: '$createDate',
        data: literal(memberData(body)),
        ...(body.channels === undefined ? {} : { channels: literal(body.channels) }),
        emailkey: literal(emailKeyOf(body.email)),
      },
    },
  ];
}
