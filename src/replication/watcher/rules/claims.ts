import { isObjectId, type Kind } from '../../../record/pure.js';
import { type Claims, identityOf, isSame, type StoredIdentity } from '../../ledger/pure.js';
import { isWritten } from '../../log/pure.js';
import type { Knowledge } from './knowledge.js';
import { knownOf, storedAfter, touchesIdentity } from './learn.js';

/** What the events of a batch will claim, as far as they and what was known before can tell. */
export function claimsIn<E extends { type: string }>(
  kind: Kind,
  events: E[],
  known: Pick<Knowledge, 'owned' | 'partials'>,
): Claims {
  const claims: Claims = { numbers: [], texts: [] };
  const standing = new Map<string, StoredIdentity>();
  for (const event of events) {
    if (!isWritten(event) || !isObjectId(event.owner) || !touchesIdentity(event)) continue;
    const key = event.owner.toHexString();
    const before = known.owned.get(key) ?? [];
    const stored = storedAfter(event, standing.get(key) ?? knownOf(key, known));
    standing.set(key, stored);
    const now = identityOf(kind, event.owner, stored);
    if (now === undefined) continue;
    if (stored.isNumber) claims.numbers.push(now);
    else if (!before.some((identity) => isSame(identity, now))) claims.texts.push(now);
  }
  return claims;
}
