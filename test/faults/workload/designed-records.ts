import { mongo } from 'mongoose';
import {
  type Content,
  type DesignedField,
  type DesignedKind,
  type DesignedWrite,
  namesOf,
  type Stamp,
} from '../plan/index.js';
import type { RecordSource, SourceRecord } from '../world/index.js';
import type { Handlers, Touch } from './handlers.js';
import { stamped, stampField } from './stamping.js';

const LISTED = 3;
const IN_BETWEEN = 'swapping';

/** What the programs do that have designed collections of their own. They know nothing of the service's shape of records. */
export const designedRecords: Handlers<'ofDesign'> = {
  ofDesign: async ({ source, journal }, { write }, touch) => {
    if (['many', 'manyNew', 'noneOfMany'].includes(write.to)) journal.noteForAll(JSON.stringify(write));
    await source.ids.take(() => perform(source, write, touch));
  },
};

/** A record as the program makes it. Some of its fields have names that mean something else to the service. */
export function designedRecord(
  source: RecordSource,
  kind: DesignedKind,
  { id, stamp, content }: { id?: string | number; stamp: Stamp; content: Content },
): SourceRecord {
  const names = namesOf(kind);
  const own = {
    _id: new mongo.ObjectId(),
    ...(id !== undefined && { [names.id]: id }),
    ...stampField(stamp, names.lastupdated),
  };
  const { channels } = content;
  if (kind === 'price') return { ...own, ...fieldsOf(content), id: 7, type: 'list', channels: 'none' };
  const stray = { id: `stray-${content.n}`, lastupdated: new Date(content.n) };
  return { ...own, ...source.tenant, ...stray, data: fieldsOf(content), channels };
}

async function perform(source: RecordSource, write: DesignedWrite, touch: Touch): Promise<void> {
  const { kind } = write;
  const records = source.records(kind);
  const names = namesOf(kind);
  const under = kind === 'price' ? '' : 'data.';
  const value = `${under}amount.value`;
  const withStamp = (set: mongo.Document, stamp: Stamp) => stamped(set, stamp, names.lastupdated);
  const change = async (pick: number, update: mongo.Document | mongo.Document[], tenant = source.tenant) => {
    const record = await source.some(kind, pick, tenant);
    touch(record?.[names.id]);
    if (record !== undefined) await records.updateOne({ _id: record._id }, update);
  };
  switch (write.to) {
    case 'insert':
      if (write.id !== undefined && !(await source.isFree(kind, write.id))) return;
      touch(write.id);
      await records.insertOne(designedRecord(source, kind, write));
      return;
    case 'oneField':
      return change(write.pick, changeOf(under, write, withStamp({}, write.stamp)));
    case 'another': {
      const record = await source.some(kind, write.pick);
      touch(record?.[names.id]);
      if (record === undefined) return;
      const { _id: _, ...another } = designedRecord(source, kind, { ...write, ...idOf(record, names.id) });
      await records.replaceOne({ _id: record._id }, another);
      return;
    }
    case 'anotherId':
      if (!(await source.isFree(kind, write.id))) return;
      touch(write.id);
      return change(write.pick, withStamp({ [names.id]: write.id }, write.stamp));
    case 'swapped':
      return swap(source, { kind, field: names.id, picks: write.picks, touch });
    case 'noId':
      return change(write.pick, { $unset: { [names.id]: '' } });
    case 'again': {
      const record = await source.some(kind, write.pick);
      touch(record?.[names.id]);
      if (record === undefined) return;
      await records.deleteOne({ _id: record._id });
      await records.insertOne(designedRecord(source, kind, { ...write, ...idOf(record, names.id) }));
      return;
    }
    case 'elsewhere':
    case 'back': {
      if (kind === 'price') return;
      const [from, to] =
        write.to === 'back' ? [source.elsewhere, source.tenant] : [source.tenant, source.elsewhere];
      const record = await source.some(kind, write.pick, from);
      const id: unknown = record?.[names.id];
      if (record === undefined || (id !== undefined && !(await source.isFree(kind, id, to)))) return;
      touch(id);
      await records.updateOne({ _id: record._id }, withStamp({ ...to }, write.stamp));
      return;
    }
    case 'nothing': {
      const record = await source.some(kind, write.pick);
      touch(record?.[names.id]);
      if (record !== undefined) await records.deleteOne({ _id: record._id });
      return;
    }
    case 'many':
      await records.updateMany(
        { [value]: { $gte: write.least, $lte: write.most } },
        withStamp({ [`${under}colour`]: write.content.colour }, write.stamp),
      );
      return;
    case 'manyNew': {
      const name = new mongo.ObjectId().toHexString();
      const many = Array.from({ length: write.count }, (_, n) =>
        designedRecord(source, kind, { ...write, id: `${kind}-${name}-${n}` }),
      );
      await records.insertMany(many, { ordered: false });
      return;
    }
    case 'noneOfMany':
      await records.deleteMany({ [value]: { $gte: write.least, $lte: write.most } });
  }
}

function idOf(record: SourceRecord, field: string): { id?: string | number } {
  const id = record[field] as string | number | undefined;
  return id === undefined ? {} : { id };
}

function fieldsOf({ colour, n, channels }: Content): mongo.Document {
  return { amount: { value: n, currency: 'EUR' }, colour, list: channels, note: `note ${n}` };
}

/** A change of one field, by operators or by a pipeline. */
function changeOf(
  under: string,
  { field, content }: { field: DesignedField; content: Content },
  stamp: mongo.Document,
): mongo.Document | mongo.Document[] {
  const { n, colour } = content;
  const { $set, ...others } = stamp as { $set: mongo.Document };
  const set = (more: mongo.Document) => ({ ...others, $set: { ...$set, ...more } });
  switch (field) {
    case 'amount':
      return set({ [`${under}amount.value`]: n });
    case 'longer':
      return { ...set({ [`${under}colour`]: colour }), $push: { [`${under}list`]: colour } };
    case 'shorter':
      return [{ $set: { [`${under}list`]: { $slice: [`$${under}list`, LISTED - 2] } } }];
    case 'note':
      return set({ [`${under}note`]: `note ${colour}` });
    case 'noNote':
      return { $unset: { [`${under}note`]: '' }, ...($set && Object.keys($set).length > 0 && { $set }) };
    case 'stray':
      return set({ id: n });
  }
}

async function swap(
  source: RecordSource,
  { kind, field, picks, touch }: { kind: DesignedKind; field: string; picks: [number, number]; touch: Touch },
): Promise<void> {
  const [one, other] = await Promise.all([source.some(kind, picks[0]), source.some(kind, picks[1])]);
  const ids = [one?.[field], other?.[field]] as unknown[];
  if (one === undefined || other === undefined || ids[0] === ids[1]) return;
  if (ids.some((id) => typeof id !== 'string')) return;
  ids.forEach(touch);
  const records = source.records(kind);
  await source.client.withSession((session) =>
    session.withTransaction(async () => {
      for (const [record, id] of [
        [one, IN_BETWEEN],
        [other, ids[0]],
        [one, ids[1]],
      ] as const)
        await records.updateOne({ _id: record._id }, { $set: { [field]: id } }, { session });
    }),
  );
}
