import type { mongo } from 'mongoose';
import { literal } from '../platform/common/index.js';
import type { StoredShape } from '../kinds/index.js';

/*
 * All code uses the names of contract §4 for the fields of records. A collection that another program designed may
 * store the `id`, the stamp, the application and the data in another way (contract §8). These functions translate
 * queries, orders, projections, expressions, pipelines and updates from the terms of the contract to those of such a
 * collection. The stored records keep their names.
 */

/** A field that no record has: conditions on it see a missing field. */
const ABSENT = '_tidemark_absent';
/** The field that holds a record while it is updated. */
const BEFORE = '_tidemark_before';
/** A query without results, for which MongoDB reads nothing. */
const NOTHING = { _id: { $in: [] } };
/** The other fields of contract §4, which a collection with all of its fields as data does not have. */
const DEFAULTED = ['type', 'createDate', 'createdBy', 'emailkey'];

const LOGICAL = new Set(['$and', '$or', '$nor']);
/** The stages that select records and leave them as they are. */
const SELECTING = ['$match', '$sort', '$limit', '$skip', '$sample'];

/** Translates from the terms of the contract to those of the collection that stores the records. */
export class StoredTerms {
  /** The stored names of the fields that are not data. */
  private readonly own: readonly string[];

  constructor(private readonly shape: StoredShape) {
    const { names, tenant, hasChannels } = shape;
    const ofTenant = tenant === undefined ? ['organizationid', 'appid'] : [];
    this.own = ['_id', names.id, names.lastupdated, ...ofTenant, ...(hasChannels ? ['channels'] : [])];
  }

  /** The names of stored fields that are never data. */
  get ownNames(): readonly string[] {
    return this.own;
  }

  /** The stored path of a field; undefined if its value is the same for all records, or if records do not have it. */
  path(path: string): string | undefined {
    const [first = '', ...rest] = path.split('.');
    const { names, tenant, hasData, hasChannels } = this.shape;
    const under = (name: string) => [name, ...rest].join('.');
    if (first === 'id' || first === 'lastupdated') return under(names[first]);
    if (first === 'organizationid' || first === 'appid') return tenant === undefined ? path : undefined;
    if (first === 'channels') return hasChannels ? path : undefined;
    if (hasData || first === '_id') return path;
    // Every other stored field is addressed only within `data`. If its stored name were accepted too, the check
    // for hidden fields would not recognize the field.
    const isData = first === 'data' && rest.length > 0 && !this.own.includes(rest[0]!);
    return isData ? rest.join('.') : undefined;
  }

  filter(filter: mongo.Document): mongo.Document {
    const conditions = Object.entries(filter).map(([key, value]) => this.condition(key, value));
    const stored: mongo.Document = {};
    const more: mongo.Document[] = [];
    for (const condition of conditions) {
      const isFree = Object.keys(condition).every((key) => !(key in stored));
      if (isFree) Object.assign(stored, condition);
      else more.push(condition);
    }
    return more.length === 0 ? stored : { $and: [stored, ...more] };
  }

  /** The keys of an order, of an index or of its bounds. */
  keys<T extends mongo.Document>(keys: T): T {
    const stored = Object.entries(keys).flatMap(([key, value]) => {
      const path = this.path(key);
      return path === undefined ? [] : [[path, value] as const];
    });
    return Object.fromEntries(stored) as T;
  }

  /**
   * Without a projection, or with an exclusion, the whole record: only fields that members alone have are ever
   * excluded.
   */
  projection(projection?: mongo.Document): mongo.Document {
    const { _id = 1, ...fields } = projection ?? {};
    const isExclusion = Object.values(fields).every((value) => value === 0 || value === false);
    if (projection === undefined || (isExclusion && Object.keys(fields).length > 0))
      return this.whole('$$ROOT');
    const stored = Object.entries(fields).map(([name, value]) => {
      const isNamed = value === 1 || value === true;
      return [name, isNamed ? this.expression(`$${name}`) : this.expression(value)] as const;
    });
    return { _id: _id as unknown, ...Object.fromEntries(stored) };
  }

  /** An aggregation expression. */
  expression(value: unknown): unknown {
    if (typeof value === 'string') return value.startsWith('$') ? this.reference(value) : value;
    if (Array.isArray(value)) return value.map((one) => this.expression(one));
    if (!isPlain(value)) return value;
    if ('$literal' in value) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, this.expression(inner)]));
  }

  /** A pipeline over the collection. Its stages see the records as the contract describes them. */
  pipeline(stages: mongo.Document[]): mongo.Document[] {
    const end = stages.findIndex((stage) => !SELECTING.some((name) => name in stage));
    const first = end === -1 ? stages : stages.slice(0, end);
    const selected = first.map((stage): mongo.Document => {
      const { $match, $sort } = stage as { $match?: mongo.Document; $sort?: mongo.Document };
      if ($match !== undefined) return { $match: this.filter($match) };
      return $sort === undefined ? stage : { $sort: this.keys($sort) };
    });
    return [...selected, { $replaceWith: this.whole('$$ROOT') }, ...(end === -1 ? [] : stages.slice(end))];
  }

  /**
   * An update by operators or a pipeline. A pipeline with stages other than `$set` must change the stamp to have an
   * effect.
   */
  update<T extends mongo.Document | mongo.Document[]>(update: T): T {
    if (Array.isArray(update)) {
      const stages = update as { $set?: mongo.Document }[];
      const isSet = stages.every(({ $set, ...rest }) => $set !== undefined && Object.keys(rest).length === 0);
      return (isSet ? stages.map(({ $set }) => ({ $set: this.set($set!) })) : this.replacing(stages)) as T;
    }
    const stored = Object.entries(update).map(([operator, fields]) => [
      operator,
      this.set(fields as mongo.Document),
    ]);
    return Object.fromEntries(stored) as T;
  }

  /** A record as the contract describes it, as an expression over a stored one, such as `$$ROOT` or `$fullDocument`. */
  whole(record: string): mongo.Document {
    const at = (name: string) => (record === '$$ROOT' ? `$${name}` : `${record}.${name}`);
    const { names, tenant, hasData, hasChannels } = this.shape;
    const { organizationid, appid } = tenant ?? {};
    return {
      _id: at('_id'),
      organizationid: tenant ? literal(organizationid) : at('organizationid'),
      appid: tenant ? literal(appid) : at('appid'),
      id: at(names.id),
      lastupdated: at(names.lastupdated),
      ...(hasData && Object.fromEntries(DEFAULTED.slice(0, -1).map((name) => [name, at(name)]))),
      ...(hasChannels && { channels: at('channels') }),
      data: hasData ? at('data') : this.rest(record),
    };
  }

  /** The record as the collection stores it, as an expression over one as the contract describes it. */
  stored(): mongo.Document {
    const { names, tenant, hasData, hasChannels } = this.shape;
    const own = {
      _id: '$_id',
      ...(tenant === undefined && { organizationid: '$organizationid', appid: '$appid' }),
      [names.id]: '$id',
      [names.lastupdated]: '$lastupdated',
      ...(hasChannels && { channels: '$channels' }),
    };
    const others = [BEFORE, 'id', 'lastupdated', ...(tenant ? ['organizationid', 'appid'] : [])];
    return { $mergeObjects: [hasData ? without(others, '$$ROOT') : without(['_id'], '$data'), own] };
  }

  /** The path that the contract uses for a stored path, as an expression. */
  nameOf(path: string): mongo.Document {
    const { names, hasData } = this.shape;
    const renamed = [
      [names.id, 'id'],
      [names.lastupdated, 'lastupdated'],
      ...this.own.slice(3).map((name) => [name, name]),
    ] as [string, string][];
    const first = { $arrayElemAt: [{ $split: [path, '.'] }, 0] };
    const branches = renamed.map(([stored, name]) => ({
      case: { $eq: [first, literal(stored)] },
      then: { $concat: [name, { $substrBytes: [path, Buffer.byteLength(stored), -1] }] },
    }));
    const reserved = ['organizationid', 'appid', 'id', 'lastupdated', 'channels', 'emailkey'];
    const isReserved = { $in: [first, reserved] };
    const other = { $concat: ['data.', path] };
    return { $switch: { branches, default: hasData ? { $cond: [isReserved, other, path] } : other } };
  }

  /** The data of a record, as an expression: all fields except those in `own`. */
  private rest(record: string): unknown {
    return without(this.own, record);
  }

  private condition(key: string, value: unknown): mongo.Document {
    if (LOGICAL.has(key)) return { [key]: (value as mongo.Document[]).map((one) => this.filter(one)) };
    if (key === '$expr') return { $expr: this.expression(value) };
    if (key.startsWith('$')) return { [key]: value };
    const path = this.path(key);
    if (path !== undefined) return { [path]: value };
    const constant = this.shape.tenant?.[key as 'organizationid' | 'appid'];
    if (constant !== undefined) return holdsFor(constant, value) ? {} : NOTHING;
    if (key === 'data') return isOfDocument(value) ? {} : NOTHING;
    return { [ABSENT]: value };
  }

  private reference(text: string): unknown {
    if (text.startsWith('$$')) return text;
    const name = text.slice(1);
    const path = this.path(name);
    if (path !== undefined) return `$${path}`;
    const constant = this.shape.tenant?.[name as 'organizationid' | 'appid'];
    if (constant !== undefined) return literal(constant);
    return name === 'data' ? this.rest('$$ROOT') : '$$REMOVE';
  }

  /**
   * The stages see the record as the contract describes it. If they leave its stamp, the stored record does not change.
   */
  private replacing(stages: mongo.Document[]): mongo.Document[] {
    const seen = { $mergeObjects: ['$$ROOT', this.whole('$$ROOT'), { [BEFORE]: '$$ROOT' }] };
    const isLeft = { $eq: ['$lastupdated', `$${BEFORE}.${this.shape.names.lastupdated}`] };
    return [
      { $replaceWith: seen },
      ...stages,
      { $replaceWith: { $cond: [isLeft, `$${BEFORE}`, this.stored()] } },
    ];
  }

  private set(fields: mongo.Document): mongo.Document {
    const stored = Object.entries(fields).flatMap(([name, value]) => {
      const path = this.path(name);
      return path === undefined ? [] : [[path, this.expression(value)] as const];
    });
    return Object.fromEntries(stored);
  }
}

/** A document without some of its fields, as an expression. */
function without(names: readonly string[], document: string): unknown {
  return names.reduce<unknown>((input, name) => ({ $unsetField: { field: literal(name), input } }), document);
}

/**
 * Whether a text satisfies a condition. Supports the conditions that the service states on the names of applications.
 */
function holdsFor(text: string, condition: unknown): boolean {
  if (!isPlain(condition)) return condition === text;
  return Object.entries(condition).every(([operator, argument]) => {
    switch (operator) {
      case '$eq':
        return argument === text;
      case '$ne':
        return argument !== text;
      case '$in':
        return (argument as unknown[]).includes(text);
      case '$nin':
        return !(argument as unknown[]).includes(text);
      case '$type':
        return [argument].flat().some((type) => type === 'string' || type === 2);
      case '$exists':
        return Boolean(argument);
      case '$not':
        return !holdsFor(text, argument);
      default:
        return false;
    }
  });
}

/** Whether every document satisfies a condition on the whole `data`, whatever the document contains. */
function isOfDocument(condition: unknown): boolean {
  if (!isPlain(condition)) return false;
  const conditions = Object.entries(condition);
  return conditions.every(([operator, argument]) => {
    if (operator === '$exists') return Boolean(argument);
    if (operator === '$type') return [argument].flat().some((type) => type === 'object' || type === 3);
    if (operator === '$not') return !isOfDocument(argument);
    return operator === '$ne' && argument === null;
  });
}

function isPlain(value: unknown): value is mongo.Document {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return !('_bsontype' in value) && !(value instanceof Date) && !(value instanceof RegExp);
}
