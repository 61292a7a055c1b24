import { type Desk, noteDeed } from '../administration/plain.js';
import type { Kind, Tenant } from '../record/index.js';

/** The records of one kind of an application. */
export interface RecordScope {
  tenant: Tenant;
  kind: Kind;
}

/** Writes down what a command did to records: one entry, which names one record or tells numbers. */
export function noteRecords(
  desk: Desk,
  { tenant: { organizationid, appid } }: RecordScope,
  { action, target }: { action: `record.${string}`; target: string },
): Promise<void> {
  return noteDeed(desk, { action, organizationid, appid, target });
}

/**
 * What some work came to, once it is noted. Work that fails is noted too, without a result; then it counts what it failed
 * with, and not whether that could be noted.
 */
export async function noted<T>(work: Promise<T>, note: (result: T | undefined) => Promise<void>): Promise<T> {
  let result: T;
  try {
    result = await work;
  } catch (error) {
    await note(undefined).catch(() => undefined);
    throw error;
  }
  await note(result);
  return result;
}
