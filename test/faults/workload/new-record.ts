import { mongo } from 'mongoose';
import type { Kind } from '../../../src/kinds/index.js';
import type { Tenant } from '../../../src/record/index.js';
import type { Content, Stamp } from '../plan/index.js';
import type { SourceRecord } from '../world/index.js';
import { stampField } from './stamping.js';

export interface NewRecord {
  kind: Kind;
  stamp: Stamp;
  content: Content;
  /** Left out, it has none. */
  id?: string;
}

/** A record as another program makes it. */
export function newRecord(tenant: Tenant, { kind, id, stamp, content }: NewRecord): SourceRecord {
  const { channels, ...rest } = content;
  return {
    _id: new mongo.ObjectId(),
    ...tenant,
    ...(id !== undefined && { id }),
    type: kind,
    createDate: new Date(),
    createdBy: 'erp',
    ...stampField(stamp),
    data: dataOf(kind, rest),
    ...(kind === 'product' && { channels }),
  };
}

/** What a change of content sets. */
export function changedFields(kind: Kind, { channels, ...rest }: Content): mongo.Document {
  const data = Object.entries(dataOf(kind, rest)).map(([key, value]) => [`data.${key}`, value] as const);
  return { ...Object.fromEntries(data), ...(kind === 'product' && { channels }) };
}

function dataOf(kind: Kind, { email, ...rest }: Omit<Content, 'channels'>): mongo.Document {
  return kind === 'member' ? { ...rest, email } : rest;
}
