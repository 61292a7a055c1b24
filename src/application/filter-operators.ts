import { isDocument, isNumber, isRegularExpression, startsWithOperator } from './filter-values.js';

/**
 * What a part of a filter is read as: a filter (field names and logical operators) or a list of them, the condition on
 * one field, a value, what `$all` takes, or what `$elemMatch` takes.
 */
export type Role = 'filter' | 'filters' | 'condition' | 'value' | 'all' | 'match';

export interface Operator {
  role: Role;
  /** The right argument, for the sentence about a wrong one. */
  wants: string;
  fits: (argument: unknown) => boolean;
  /** It compares by order, so that a few answers tell what is stored. */
  isOrder?: boolean;
}

const filters: Operator = {
  role: 'filters',
  wants: 'a list of one or more filters',
  fits: (argument) => Array.isArray(argument) && argument.length > 0,
};

const comparison: Operator = { role: 'value', wants: 'a value', fits: () => true };

const order: Operator = { ...comparison, isOrder: true };

const oneOfList: Operator = { role: 'value', wants: 'a list of values', fits: Array.isArray };

/** Operators that join whole filters. */
export const LOGICAL: ReadonlyMap<string, Operator> = new Map([
  ['$and', filters],
  ['$or', filters],
  ['$nor', filters],
]);

/** Operators of the condition on one field. */
export const CONDITIONAL: ReadonlyMap<string, Operator> = new Map([
  [
    '$not',
    {
      role: 'condition',
      wants: 'a condition such as {"$gt": 5}, or a regular expression',
      fits: isNegatable,
    },
  ],
  ['$eq', comparison],
  ['$ne', comparison],
  ['$gt', order],
  ['$gte', order],
  ['$lt', order],
  ['$lte', order],
  ['$in', oneOfList],
  ['$nin', oneOfList],
  ['$exists', comparison],
  ['$type', { role: 'value', wants: 'the name or number of a BSON type, or a list of them', fits: isTypes }],
  ['$size', { role: 'value', wants: 'a whole number from 0', fits: isCount }],
  ['$all', { role: 'all', wants: 'a list of values', fits: Array.isArray }],
  ['$elemMatch', { role: 'match', wants: 'a filter or a condition', fits: isDocument }],
  ['$mod', { role: 'value', wants: 'a list of two numbers, divisor and remainder', fits: isDivision }],
  ['$regex', { role: 'value', wants: 'a regular expression', fits: isPattern }],
  ['$options', { role: 'value', wants: 'a text such as "i"', fits: isText }],
]);

/** All allowed operators, for error sentences. */
export const ALLOWED = [...LOGICAL.keys(), ...CONDITIONAL.keys()].join(' ');

function isNegatable(argument: unknown): boolean {
  return isRegularExpression(argument) || (isDocument(argument) && startsWithOperator(argument));
}

function isTypes(argument: unknown): boolean {
  return Array.isArray(argument) ? argument.length > 0 && argument.every(isType) : isType(argument);
}

function isType(value: unknown): boolean {
  return isText(value) || isNumber(value);
}

function isCount(argument: unknown): boolean {
  const count = isNumber(argument) ? Number(argument) : NaN;
  return Number.isInteger(count) && count >= 0;
}

function isDivision(argument: unknown): boolean {
  return Array.isArray(argument) && argument.length === 2 && argument.every(isNumber);
}

function isPattern(argument: unknown): boolean {
  return isText(argument) || isRegularExpression(argument);
}

function isText(argument: unknown): boolean {
  return typeof argument === 'string';
}
