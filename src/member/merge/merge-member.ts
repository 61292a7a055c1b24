import type { PatchMember } from '../dto/patch-member.js';
import { emailKeyOf } from '../email-key.js';
import { type BsonDocument, isDocument } from '../document.js';
import { memberData } from '../member-data.js';
import { assertRoom } from './assert-room.js';
import type { Change } from './change.js';
import { merge } from './merge.js';

/** What a patch changes in a stored member; nothing where it says what is stored already. */
export function mergeMember(record: BsonDocument, patch: PatchMember): Change[] {
  const data = memberData(patch);
  const stored = record.get('data');
  const known = isDocument(stored) ? stored : undefined;
  assertRoom(known?.get('extrafields'), data.get('extrafields'));
  const changes = data.size === 0 ? [] : merge(stored, data, ['data']);
  if (patch.channels !== undefined)
    changes.push(...merge(record.get('channels'), patch.channels, ['channels']));
  if (patch.email !== undefined && patch.email !== known?.get('email')) {
    changes.push({ path: ['emailkey'], value: emailKeyOf(patch.email) });
  }
  return changes;
}
