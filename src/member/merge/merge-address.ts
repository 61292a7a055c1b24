import { ADDRESS_FIELDS } from '../dto/address-fields.js';
import type { PatchAddress } from '../dto/patch-address.js';
import { type BsonDocument, isDocument } from '../document.js';
import type { Change } from './change.js';

/**
 * What a patch changes in the address of a stored member. Where there was none, all five fields are made, empty but
 * for those given; deleting a field makes it empty.
 */
export function mergeAddress(record: BsonDocument, patch: PatchAddress): Change[] {
  const given = ADDRESS_FIELDS.filter((field) => patch[field] !== undefined);
  if (given.length === 0) return [];
  const valueOf = (field: keyof PatchAddress) => patch[field] ?? '';
  const data = record.get('data');
  if (!isDocument(data)) {
    return [{ path: ['data'], value: new Map([['address', newAddress(valueOf)]]) }];
  }
  const stored = data.get('address');
  if (!isDocument(stored)) return [{ path: ['data', 'address'], value: newAddress(valueOf) }];
  return given
    .filter((field) => (stored.get(field) ?? '') !== valueOf(field))
    .map((field) => ({ path: ['data', 'address', field], value: valueOf(field) }));
}

function newAddress(valueOf: (field: keyof PatchAddress) => string): Map<string, string> {
  return new Map(ADDRESS_FIELDS.map((field) => [field, valueOf(field)]));
}
