import { fits, type Steps } from '../platform/common/index.js';
import {
  alsoTaking,
  type Field,
  type FieldError,
  type Fields,
  optional,
  problems,
  required,
  type Shaped,
  shaped,
} from '../platform/http/pure.js';
import {
  bodyFaults,
  channelsFaults,
  type Deletion,
  extrafieldsFaults,
  extrafieldsPatchFaults,
  isDeletion,
  LONGEST_EMAIL,
  LONGEST_PASSWORDHASH,
  LONGEST_TEXT,
  MOST_PROPERTIES,
  MOST_SECTIONS,
  PROPERTY_NAME_RULE,
} from './body-faults.js';

const EMAIL = /^[^\s@]+@[^\s@]+$/;

const ACCOUNTNUMBER_RULE = `must be a string of 1 to ${LONGEST_TEXT} characters, such as "4711"; every member has one`;
const EMAIL_RULE = `must be an e-mail address of at most ${LONGEST_EMAIL} characters, such as "ann@example.com"; every member has one`;

function words(example: string, longest = LONGEST_TEXT): Field<string | undefined> {
  const fault = `must be a string of at most ${longest} characters, such as "${example}"`;
  return optional({ type: 'string', maxLength: longest, example }, (value) =>
    typeof value === 'string' && fits(value, longest) ? { value } : { fault },
  );
}

const accountnumber: Field<string | undefined> = optional(
  { type: 'string', minLength: 1, maxLength: LONGEST_TEXT, example: '4711' },
  (value) =>
    typeof value === 'string' && value !== '' && fits(value, LONGEST_TEXT)
      ? { value }
      : { fault: ACCOUNTNUMBER_RULE },
);

/** Blanks at both ends are removed before validation; case is preserved. */
const email: Field<string | undefined> = optional(
  {
    type: 'string',
    maxLength: LONGEST_EMAIL,
    pattern: '^\\s*[^\\s@]+@[^\\s@]+\\s*$',
    example: 'ann@example.com',
  },
  (value) => {
    const address = typeof value === 'string' ? value.trim() : '';
    return fits(address, LONGEST_EMAIL) && EMAIL.test(address) ? { value: address } : { fault: EMAIL_RULE };
  },
);

/** Replaces -0, which JSON allows, with 0: it would be stored as a double. */
const elevel: Field<number | undefined> = optional(
  { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER, example: 2 },
  (value) =>
    Number.isSafeInteger(value) && (value as number) >= 0
      ? { value: value === 0 ? 0 : (value as number) }
      : { fault: 'must be a whole number from 0, such as 2' },
);

const channels: Field<string[] | undefined> = checked(
  { type: 'array', items: { type: 'string', maxLength: LONGEST_TEXT }, example: ['web'] },
  channelsFaults,
);

/** The values of `extrafields`; `D` are those by which a patch deletes a section or a property. */
type Sections<D> = Record<string, Record<string, string | boolean | D> | D>;

function extrafields<D>(
  faultsIn: (value: unknown) => FieldError[],
  { nullable }: { nullable: boolean },
): Field<Sections<D> | undefined> {
  return checked(
    {
      type: 'object',
      description: `Named sections, each an object of strings or booleans. ${PROPERTY_NAME_RULE}`,
      maxProperties: MOST_SECTIONS,
      additionalProperties: {
        type: 'object',
        nullable,
        maxProperties: MOST_PROPERTIES,
        additionalProperties: {
          oneOf: [{ type: 'string', nullable, maxLength: LONGEST_TEXT }, { type: 'boolean' }],
        },
      },
      example: { shop: { newsletter: true, size: 'M' } },
    },
    faultsIn,
  );
}

/** A field that is kept as it was sent if a function finds no faults in it. */
function checked<T>(
  schema: Record<string, unknown>,
  faultsIn: (value: unknown) => FieldError[],
): Field<T | undefined> {
  return optional(schema, (value) => {
    const faults = faultsIn(value);
    return faults.length === 0 ? { value: value as T } : { faults };
  });
}

/** A property of a patch, where null or "" deletes the stored value. */
function deletable<T>(field: Field<T | undefined>): Field<T | Deletion | undefined> {
  return alsoTaking(field, isDeletion);
}

/** The body of `POST /member`. */
export const CREATE_MEMBER = {
  accountnumber: required(accountnumber, ACCOUNTNUMBER_RULE),
  email: required(email, EMAIL_RULE),
  channels,
  elevel,
  contactname: words('Ann Example'),
  passwordhash: words('$argon2id$v=19$…', LONGEST_PASSWORDHASH),
  extrafields: extrafields<never>(extrafieldsFaults, { nullable: false }),
};

export type CreateMember = Shaped<typeof CREATE_MEMBER>;

/** The body of `PATCH /member/{memberid}`: only the given properties change. */
export const PATCH_MEMBER = {
  accountnumber,
  email,
  channels: deletable(channels),
  elevel: deletable(elevel),
  contactname: deletable(words('Ann Example')),
  passwordhash: deletable(words('$argon2id$v=19$…', LONGEST_PASSWORDHASH)),
  extrafields: deletable(extrafields<Deletion>(extrafieldsPatchFaults, { nullable: true })),
};

export type PatchMember = Partial<Shaped<typeof PATCH_MEMBER>>;

/** The body of `PATCH /member/{memberid}/address`: only the given fields change; null empties a field. */
export const PATCH_ADDRESS = {
  address: deletable(words('Main Street 1')),
  address2: deletable(words('Building C')),
  zipcode: deletable(words('1010')),
  city: deletable(words('Vienna')),
  country: deletable(words('AT')),
};

export type PatchAddress = Partial<Shaped<typeof PATCH_ADDRESS>>;

/**
 * Reads the body of a write by its fields. Throws a 400 that names the wrong properties, up to a maximum number
 * (contract §2). If {@link bodyFaults} finds faults, only these are named.
 */
export function* memberBody<F extends Fields>(fields: F, body: object): Steps<Shaped<F>> {
  const faults = yield* bodyFaults(body);
  if (faults.length > 0) throw problems.invalidRequest(faults);
  return yield* shaped(fields, body);
}
