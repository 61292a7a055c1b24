import type { SourceRecord } from '../world/index.js';
import { FieldList } from './field-list.js';
import type { Handlers } from './handlers.js';
import { changedFields, newRecord } from './new-record.js';
import { stamped } from './stamping.js';

const LONG_CHANNEL = 'c'.repeat(9 * 1024 * 1024);
const LONG_NAME = 'e'.repeat(2048);

/** Under which `createdBy` records stand whose `id` is a number. */
export const UPSERTER = 'upserter';

/** What other programs write that MongoDB takes and nobody likes. Each costs only itself. */
export const poison: Handlers<'insertDoubled' | 'insertLongChannel' | 'insertLongEmail' | 'upsertNumber'> = {
  insertDoubled: async ({ source }, operation, touch) => {
    await source.ids.take(async () => {
      if (!(await source.isFree(operation.kind, operation.id))) return;
      touch(operation.id);
      const record = newRecord(source.tenant, operation);
      const doubled = operation.inData ? withDoubledData(record) : withDoubledStamp(record);
      await source.records(operation.kind).insertOne(doubled as unknown as SourceRecord);
    });
  },
  insertLongChannel: async ({ source }, { id, stamp, content }, touch) => {
    await source.ids.take(async () => {
      if (!(await source.isFree('product', id))) return;
      touch(id);
      const long = { ...content, channels: [...content.channels, LONG_CHANNEL] };
      await source
        .records('product')
        .insertOne(newRecord(source.tenant, { kind: 'product', id, stamp, content: long }));
    });
  },
  insertLongEmail: async ({ source }, { id, stamp, content }, touch) => {
    await source.ids.take(async () => {
      if (!(await source.isFree('member', id))) return;
      touch(id);
      const long = { ...content, email: `${LONG_NAME}${content.email}` };
      await source
        .records('member')
        .insertOne(newRecord(source.tenant, { kind: 'member', id, stamp, content: long }));
    });
  },
  upsertNumber: async ({ source }, { kind, number, stamp, content }, touch) => {
    await source.ids.take(async () => {
      touch(String(number));
      const update = stamped(changedFields(kind, content), stamp);
      const made = { type: kind, createDate: new Date(), createdBy: UPSERTER };
      const key = { ...source.tenant, id: number };
      await source.records(kind).updateOne(key, { ...update, $setOnInsert: made }, { upsert: true });
    });
  },
};

function withDoubledStamp(record: SourceRecord): FieldList {
  const earlier = ['lastupdated', new Date('2000-01-01T00:00:00.000Z')] as const;
  return new FieldList([...Object.entries(record), earlier]);
}

function withDoubledData(record: SourceRecord): FieldList {
  const { data, ...rest } = record;
  const fields = Object.entries(data as object) as [string, unknown][];
  return new FieldList([...Object.entries(rest), ['data', new FieldList([...fields, ...fields])]]);
}
