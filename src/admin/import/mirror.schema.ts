import { randomUUID } from 'node:crypto';

/** Name of the collection of one import: the ids that its file has. It is dropped at the end. */
export function importing(): string {
  return `tidemark.importing.${randomUUID()}`;
}
