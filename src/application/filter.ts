import type { mongo } from 'mongoose';

/** Why a stored filter cannot be used, in one sentence; nothing where it can (contract §4). */
export function filterFault(_filter: unknown): string | undefined {
  return undefined;
}

export type Filter = mongo.Document;
