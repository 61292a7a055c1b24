import type { CreateMember } from './dto/create-member.js';
import type { PatchMember } from './dto/patch-member.js';

/** The properties of `data`, in the order in which a new member stores them. */
const PROPERTIES = [
  'accountnumber',
  'email',
  'elevel',
  'contactname',
  'passwordhash',
  'extrafields',
] as const;

/** What a body says about `data`. Maps, since names that clients choose mean something in objects. */
export function memberData(body: CreateMember | PatchMember): Map<string, unknown> {
  const given = PROPERTIES.filter((property) => body[property] !== undefined);
  return new Map(given.map((property) => [property, asMap(body[property])]));
}

function asMap(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return new Map(Object.entries(value).map(([name, inner]) => [name, asMap(inner)]));
}
