import type { CopyStore } from '../../../client/src/harvest/index.js';

/** A record of a copy as its database, or its file, tells it without the store. */
export interface CopiedRecord {
  id: string;
  lastupdated: string;
  type: string;
  createDate: string;
  createdBy: string;
  data: Record<string, unknown>;
  channels?: unknown[];
}

/** Where a copy is kept. */
export interface CopyPlace {
  /** What `--to` and `--table` name. */
  to: string;
  table: string;
  open(): Promise<CopyStore>;
  /** What it holds, by id. */
  records(): Promise<Map<string, CopiedRecord>>;
  remove(): Promise<void>;
}

/** Makes places for copies that do not meet. */
export interface CopyPlaces {
  fresh(): Promise<CopyPlace>;
  end(): Promise<void>;
}

export function byId(records: CopiedRecord[]): Map<string, CopiedRecord> {
  return new Map(records.map((record) => [record.id, record]));
}
