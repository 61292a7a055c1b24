import type { ModelRecord } from './documents.js';

/** Whether a record matches a query: equality and the three operators that filters are joined with. */
export function matches(query: Record<string, unknown>, record: ModelRecord): boolean {
  return Object.entries(query).every(([name, wanted]) => {
    if (name === '$or') return parts(wanted).some((part) => matches(part, record));
    if (name === '$and') return parts(wanted).every((part) => matches(part, record));
    if (name === '$nor') return !parts(wanted).some((part) => matches(part, record));
    return record[name as keyof ModelRecord] === wanted;
  });
}

function parts(wanted: unknown): Record<string, unknown>[] {
  return wanted as Record<string, unknown>[];
}
