import type { Application, Filter } from '../application/index.js';
import { MOST_SERVICES, type ShownFields, shownFieldsFault } from '../application/plain.js';
import { LEVELS, type Scope } from '../auth/plain.js';
import { fits, NAME, NAME_RULE, NAME_SCHEMA, type Steps } from '../platform/common/index.js';
import { isKind, KIND_NAME, type KindDocument, kindFaults, kindNames } from '../kinds/index.js';
import { MOST_KINDS } from '../record/index.js';
import {
  date,
  type Field,
  type FieldError,
  flag,
  inSteps,
  isObject,
  listOf,
  MOST_FAULTS,
  oneOf,
  optional,
  type ReadValue,
  removable,
  required,
  type Shaped,
  text,
} from '../platform/http/plain.js';
import { Refused } from './changes.js';
import { newUsernameFault, usernameFault } from './credentials.js';
import { filterOfJson } from './filter-text.js';
import { assertFilterInSteps } from './filter-trial.js';
import { serviceFault, serviceNameFault } from './service-rules.js';

const LONGEST_TEXT = 1000;
const EVERY = '*';
const MOST_SCOPES = 100;
const NO_SCOPES = `is not a list of 1 to ${MOST_SCOPES} scopes, each such as {"organizationid": "acme", "appid": "webshop"} ("*" for every one).`;

/** A text for people, of limited length. */
function words(example: string): Field<string | undefined> {
  const fault = `is longer than ${LONGEST_TEXT} characters.`;
  return text((value) => (fits(value, LONGEST_TEXT) ? undefined : fault), {
    maxLength: LONGEST_TEXT,
    example,
  });
}

const name = (example: string) =>
  text((value) => (NAME.test(value) ? undefined : `${NAME_RULE}.`), { ...NAME_SCHEMA, example });

function* readFilter(value: unknown): Steps<ReadValue<Filter>> {
  try {
    const found = filterOfJson(value);
    yield* assertFilterInSteps(found);
    return { value: found as Filter };
  } catch (error) {
    if (error instanceof Refused) return { fault: error.message };
    throw error;
  }
}

/** Extended JSON, so that dates and ObjectIds can be written. */
const filter: Field<Filter | undefined> = inSteps(
  {
    type: 'object',
    example: { 'data.datasource': 'erp' },
    additionalProperties: true,
    description: 'Required, except for `default`, which has none',
  },
  readFilter,
);

const paths = (example: string[]) => ({ type: 'array', maxItems: 200, items: { type: 'string' }, example });

/** The fields that a service shows, and those that it shows as a hash (contract §7). */
const shownFields: Field<ShownFields | undefined> = optional(
  {
    type: 'object',
    properties: { only: paths(['data.name']), except: paths(['data.email']), hash: paths(['data.number']) },
    additionalProperties: false,
    example: { except: ['data.email'] },
    description: 'Which fields of its records the service shows: `only` these, or all `except` these',
  },
  (value) => chosen<ShownFields>('fields', value),
);

const hash: Field<string[] | undefined> = optional(
  { ...paths(['data.accountnumber']), description: 'Fields that the service shows as a keyed hash' },
  (value) => chosen<string[]>('hash', value),
);

const allowHiddenFilter: Field<boolean | undefined> = {
  ...flag(),
  schema: { type: 'boolean', description: 'The filter may name a field that is not shown' },
};

const schemaExamples: Field<boolean | undefined> = {
  ...flag(),
  schema: { type: 'boolean', description: 'The schema of the service shows values of its records' },
};

function chosen<T>(name: 'fields' | 'hash', value: unknown): ReadValue<T> {
  const fault = shownFieldsFault({ [name]: value ?? false });
  if (fault === undefined) return { value: value as T };
  const { pointer, detail } = fault;
  const isWithin = pointer.startsWith(`/${name}`);
  return { faults: [{ pointer: isWithin ? pointer.slice(name.length + 1) : '', detail }] };
}

/** The name of a kind. The schema lists no names, because kinds are created and removed while the service runs. */
const kindName = (faultOf: (text: string) => string | undefined) =>
  text(faultOf, { pattern: KIND_NAME.source, example: 'product' });

const kind = kindName((value) => (isKind(value) ? undefined : `is not one of ${kindNames().join(', ')}.`));

/** Checks nothing: `kindFaults` has the rules for each of these fields and for their combinations. */
const kindText = (example: string, description: string) => text(() => undefined, { example, description });

/** A kind that an operator creates (contract §8). */
export const KIND = {
  name: required(
    text(() => undefined, { pattern: KIND_NAME.source, example: 'order', description: 'As in the paths' }),
  ),
  collection: required(kindText('orders', 'The collection of its records')),
  plural: kindText('orders', 'Several records, in texts for people; by default the name with an s'),
  id: kindText('number', 'The field that holds the `id`; by default `id`'),
  lastupdated: kindText('changedAt', 'The field that holds the stamp; by default `lastupdated`'),
  organizationid: kindText('acme', 'The organization of all records, if they do not name theirs'),
  appid: kindText('webshop', 'The application of all records, if they do not name theirs'),
  channels: {
    ...flag(),
    schema: { type: 'boolean', description: 'The field `channels` holds the channels of a record' },
  },
  data: {
    ...flag(),
    schema: { type: 'boolean', description: '`false`: all fields but those above are the data' },
  },
};

const settings: Field<Application['settings']> = optional<NonNullable<Application['settings']>>(
  { type: 'object', properties: { replicatepasswordhash: { type: 'boolean' } }, additionalProperties: false },
  (value) => {
    const { replicatepasswordhash: replicates, ...others } = Object(value) as Record<string, unknown>;
    const isKnown = isObject(value) && Object.keys(others).length === 0;
    if (isKnown && typeof replicates === 'boolean') return { value: { replicatepasswordhash: replicates } };
    if (isKnown && replicates === undefined) return { value: {} };
    return { fault: 'is not an object such as {"replicatepasswordhash": false}.' };
  },
);

const scopes: Field<Scope[] | undefined> = optional(
  {
    type: 'array',
    minItems: 1,
    maxItems: MOST_SCOPES,
    items: {
      type: 'object',
      required: ['organizationid', 'appid'],
      properties: {
        organizationid: { type: 'string', example: 'acme', description: '`*` for every one' },
        appid: { type: 'string', example: 'webshop', description: '`*` for every one' },
      },
    },
  },
  (value) => {
    const list = Array.isArray(value) ? (value as unknown[]) : [];
    if (list.length === 0 || list.length > MOST_SCOPES || !list.every(isObject)) return { fault: NO_SCOPES };
    const faults = list.flatMap((scope, index) => scopeFaults(scope, index)).slice(0, MOST_FAULTS);
    if (faults.length > 0) return { faults };
    return {
      value: (list as unknown as Scope[]).map(({ organizationid, appid }) => ({ organizationid, appid })),
    };
  },
);

/** The faults in the names of a scope. */
function scopeFaults(scope: object, index: number): FieldError[] {
  const { organizationid, appid } = scope as { organizationid?: unknown; appid?: unknown };
  return Object.entries({ organizationid, appid })
    .filter(([, name]) => typeof name !== 'string' || (name !== EVERY && !NAME.test(name)))
    .map(([part]) => ({ pointer: `/${index}/${part}`, detail: `${NAME_RULE}, or be "*" for every one.` }));
}

export const NEW_APPLICATION = {
  organizationid: required(name('acme')),
  appid: required(name('webshop')),
  title: words('Webshop'),
  settings,
};

export const APPLICATION_CHANGE = { title: removable(words('Webshop')), settings: removable(settings) };

/** Null removes what is stored. */
const CHANGED_FIELDS = {
  fields: removable(shownFields),
  hash: removable(hash),
  allowHiddenFilter: removable(allowHiddenFilter),
};

export const SERVICE_SETTING = {
  filter,
  description: words('Products of the ERP'),
  enabled: flag(),
  ...CHANGED_FIELDS,
  schemaExamples: removable(schemaExamples),
};

export const PREVIEW = { filter, name: name('erp'), ...CHANGED_FIELDS };

export const ERASURE = {
  kind: required(kind),
  id: required(
    text((value) => (value === '' ? 'is empty. Send the id of a record, as in the feeds.' : undefined), {
      minLength: 1,
      example: '9d87ba58-a750-451b-85d0-0d4ad5659a24',
    }),
  ),
};

const level = oneOf(LEVELS);

export const NEW_CREDENTIAL = {
  username: required(text(newUsernameFault, { example: 'harvester' })),
  level: required(level),
  scopes: required(scopes),
  expiresAt: date(),
};

export const ROTATION = { keepOldUntil: date() };

export const CREDENTIAL_CHANGE = { level, disabled: flag(), expiresAt: removable(date()) };

const MOST_APPLICATIONS = 10_000;
const MOST_CREDENTIALS = 100_000;

/**
 * A configuration may create the kind of a service, so the kind need not exist yet: only the form of its name is
 * checked here.
 */
const configuredKind = kindName((value) =>
  KIND_NAME.test(value) ? undefined : 'must be the name of a kind, such as "product".',
);

export const SERVICE = {
  kind: required(configuredKind),
  name: required(text(serviceNameFault, { example: 'erp' })),
  description: words('Products of the ERP'),
  enabled: flag(),
  filter,
  ...{ fields: shownFields, hash, allowHiddenFilter, schemaExamples },
};

export const APPLICATION = {
  organizationid: required(name('acme')),
  appid: required(name('webshop')),
  title: words('Webshop'),
  settings,
  services: listOf(SERVICE, MOST_SERVICES, serviceFault),
};

export const CREDENTIAL = {
  username: required(text(usernameFault, { example: 'harvester' })),
  level: required(level),
  scopes: required(scopes),
  disabled: flag(),
  expiresAt: date(),
};

export type ConfiguredApplication = Shaped<typeof APPLICATION>;
export type ConfiguredService = Shaped<typeof SERVICE>;
export type ConfiguredKind = Shaped<typeof KIND>;
export type ConfiguredCredential = Shaped<typeof CREDENTIAL>;

/** The first fault of a kind; undefined if it has none. */
function kindFault(kind: Shaped<typeof KIND>): FieldError | undefined {
  const [fault] = kindFaults(kind as KindDocument);
  return fault && { pointer: `/${fault.field}`, detail: fault.detail };
}

/** The properties of a configuration in a file or a body. */
export const CONFIGURATION = {
  kinds: listOf(KIND, MOST_KINDS, kindFault),
  applications: listOf(APPLICATION, MOST_APPLICATIONS),
  credentials: listOf(CREDENTIAL, MOST_CREDENTIALS),
};

/**
 * Kinds, applications, services and credentials, without any secrets. An omitted property has its default: no title, no
 * settings, no description, enabled, no expiry.
 */
export type Configuration = Shaped<typeof CONFIGURATION>;
