import { problems } from '../../http/pure.js';
import { pointerTo } from '../faults/pointer.js';
import { isDeletion } from '../dto/deletion.js';
import { MOST_PROPERTIES, MOST_SECTIONS } from '../dto/limits.js';
import { type BsonDocument, isDocument } from '../document.js';
import { withoutDeletions } from './merge.js';

const POINTER = '/extrafields';

/**
 * Throws 400 where a patch would leave more sections, or more properties in one, than a member may have. What other
 * programs stored beyond that may stay and shrink, not grow.
 */
export function assertRoom(stored: unknown, patch: unknown): void {
  if (!isDocument(patch)) return;
  const sections = asMap(stored);
  assertFits(sections, patch, MOST_SECTIONS, { pointer: POINTER, what: 'sections' });
  for (const [name, section] of patch) {
    if (!isDocument(section)) continue;
    const pointer = pointerTo(POINTER, name);
    assertFits(asMap(sections.get(name)), section, MOST_PROPERTIES, { pointer, what: 'properties' });
  }
}

function assertFits(
  stored: BsonDocument,
  patch: BsonDocument,
  most: number,
  where: { pointer: string; what: string },
): void {
  const size = sizeAfter(stored, patch);
  if (size <= most || size <= stored.size) return;
  const detail = `must have at most ${most} ${where.what} together with those stored; this would make ${size}. Delete some with null`;
  throw problems.invalidRequest([{ pointer: where.pointer, detail }]);
}

function sizeAfter(stored: BsonDocument, patch: BsonDocument): number {
  let size = stored.size;
  for (const [name, value] of patch) {
    if (stored.has(name)) size -= isDeletion(value) ? 1 : 0;
    else size += withoutDeletions(value) === undefined ? 0 : 1;
  }
  return size;
}

function asMap(stored: unknown): BsonDocument {
  return isDocument(stored) ? stored : new Map<string, unknown>();
}
