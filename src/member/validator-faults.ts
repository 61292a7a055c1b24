import type { mongo } from 'mongoose';
import type { InputError } from '../http/index.js';
import { pointerTo } from './body-faults.js';

/** Most fields that an error names. */
const MOST_NAMED = 20;
/** Longest name in an error, in characters. Errors show names and MongoDB's own words, never a value. */
const LONGEST = 200;
/** Stored under `data`, sent without it. */
const DATA = 'data.';

/** A rule of a validator that a member breaks, and the stored field that breaks it; `''` for the member itself. */
interface BrokenRule {
  field: string;
  rule: string;
}

/**
 * The faults that the validator of the collection finds in a member, from MongoDB's `errInfo.details`: each pair of a field and
 * the rule that it breaks, once.
 */
export function validatorFaults(error: mongo.MongoServerError): InputError[] {
  const details = (error.errInfo as { details?: unknown } | undefined)?.details;
  const broken = new Map<string, BrokenRule>();
  for (const one of brokenRules(details, '')) {
    const key = `${one.field} ${one.rule}`;
    if (broken.size < MOST_NAMED && !broken.has(key)) broken.set(key, one);
  }
  const found = broken.size > 0 ? [...broken.values()] : [{ field: '', rule: '' }];
  return found.map(({ field, rule }) => ({ pointer: pointerOf(field), detail: sentence(field, rule) }));
}

function sentence(field: string, rule: string): string {
  const what = field === '' ? 'The member' : `The stored field "${field.slice(0, LONGEST)}"`;
  const by = rule === '' ? '' : ` ("${rule.slice(0, LONGEST)}")`;
  return `${what} breaks a rule of the validator of the collection "members"${by}. Send a value that the rule allows.`;
}

function pointerOf(field: string): string {
  return field.startsWith(DATA) ? field.slice(DATA.length).split('.').reduce(pointerTo, '') : '';
}

/** MongoDB reports broken rules as a tree: branches of operators, and of the properties of a schema. */
function brokenRules(node: unknown, path: string): BrokenRule[] {
  if (Array.isArray(node)) return node.flatMap((one) => brokenRules(one, path));
  if (typeof node !== 'object' || node === null) return [];
  const told = node as Record<string, unknown>;
  const rule = wordIn(told['operatorName']);
  const inside = [
    'details',
    'schemaRulesNotSatisfied',
    'schemaRulesSatisfied',
    'clausesNotSatisfied',
    'clausesSatisfied',
  ];
  const branches = inside.flatMap((name) => brokenRules(told[name], path));
  const properties = listIn(told['propertiesNotSatisfied']).flatMap((one) => {
    const { propertyName, details } = one as Record<string, unknown>;
    return brokenRules(details, joined(path, wordIn(propertyName)));
  });
  const named = ['missingProperties', 'additionalProperties'].flatMap((name) =>
    listIn(told[name]).map((property) => ({ field: joined(path, wordIn(property)), rule })),
  );
  const found = [...branches, ...properties, ...named];
  if (found.length > 0 || rule === '') return found;
  return fieldsIn(told['specifiedAs'], path).map((field) => ({ field, rule }));
}

/** A query operator names its field; a schema operator concerns the property that contains it. */
function fieldsIn(specified: unknown, path: string): string[] {
  if (path !== '' || typeof specified !== 'object' || specified === null) return [path];
  const names = Object.keys(specified).filter((name) => !name.startsWith('$'));
  return names.length > 0 ? names : [path];
}

function joined(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function listIn(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function wordIn(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
