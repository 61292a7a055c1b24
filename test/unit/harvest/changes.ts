import type { ToldDelete, ToldUpsert } from '../../../client/src/harvest/index.js';

/** An upsert as `changes` tells it. */
export function upsert(id: string, lastupdated: string, data: Record<string, unknown> = {}): ToldUpsert {
  const createDate = '2026-01-01T00:00:00.000Z';
  return { op: 'upsert', id, type: 'product', createDate, createdBy: 'erp', lastupdated, data, channels: [] };
}

export function gone(id: string, lastupdated: string): ToldDelete {
  return { op: 'delete', id, lastupdated, reason: 'gone' };
}
