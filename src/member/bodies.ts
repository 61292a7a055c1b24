import { applyDecorators, type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Transform, type ClassConstructor, plainToInstance } from 'class-transformer';
import {
  IsInt,
  IsString,
  Length,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateBy,
  ValidateIf,
  type ValidationError,
  getMetadataStorage,
  validateSync,
} from 'class-validator';
import {
  channelsFaults,
  type InputFault,
  isDeletion,
  LONGEST_EMAIL,
  LONGEST_TEXT,
  MOST_PROPERTIES,
  MOST_SECTIONS,
  PROPERTY_NAME_RULE,
  bodyFaults,
  type Deletion,
  extrafieldsFaults,
  extrafieldsPatchFaults,
  LONGEST_PASSWORDHASH,
  MOST_FAULTS,
  pointerTo,
} from './body-faults.js';
import { type InputError, problems, RequestBody } from '../platform/http/index.js';

const NAME = 'checkedBy';

/** Validates a property with a function that also reports where inside the property the faults are. */
function CheckedBy(faultsIn: (value: unknown) => InputFault[]): PropertyDecorator {
  return ValidateBy(
    {
      name: NAME,
      validator: { validate: (value) => faultsIn(value).length === 0, defaultMessage: () => 'is not valid' },
    },
    { context: { faultsIn } },
  );
}

/** The faults that caused an error of {@link CheckedBy}; undefined for errors of other rules. */
function faultsOf(error: ValidationError): InputFault[] | undefined {
  const context = error.contexts?.[NAME] as { faultsIn: (value: unknown) => InputFault[] } | undefined;
  return context?.faultsIn(error.value);
}

/** Bounded by the maximum length of an address, so that a longer text is not scanned. */
const EMAIL = new RegExp(`^[^\\s@]{1,${LONGEST_EMAIL}}@[^\\s@]{1,${LONGEST_EMAIL}}$`);

/** The property may be omitted; null is not allowed. */
const Optional = () =>
  applyDecorators(
    ValidateIf((_body, value) => value !== undefined),
    ApiProperty({ required: false }),
  );

/** The property of a patch may be omitted; null or "" deletes the stored value. */
const Deletable = () =>
  applyDecorators(
    ValidateIf((_body, value) => value !== undefined && !isDeletion(value)),
    ApiProperty({ required: false, nullable: true }),
  );

function Text(example: string, longest = LONGEST_TEXT) {
  const message = `must be a string of at most ${longest} characters, such as "${example}"`;
  return applyDecorators(
    IsString({ message }),
    MaxLength(longest, { message }),
    ApiProperty({ type: 'string', maxLength: longest, example }),
  );
}

/** An account number, which every member must have. */
function AccountNumber() {
  const message = `must be a string of 1 to ${LONGEST_TEXT} characters, such as "4711"; every member has one`;
  return applyDecorators(
    IsString({ message }),
    Length(1, LONGEST_TEXT, { message }),
    ApiProperty({ type: 'string', minLength: 1, maxLength: LONGEST_TEXT, example: '4711' }),
  );
}

/** Blanks at both ends are removed before validation; case is preserved. */
function Email() {
  const message = `must be an e-mail address of at most ${LONGEST_EMAIL} characters, such as "ann@example.com"; every member has one`;
  return applyDecorators(
    Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.trim() : value)),
    Matches(EMAIL, { message }),
    MaxLength(LONGEST_EMAIL, { message }),
    ApiProperty({
      type: 'string',
      maxLength: LONGEST_EMAIL,
      pattern: '^\\s*[^\\s@]+@[^\\s@]+\\s*$',
      example: 'ann@example.com',
    }),
  );
}

/** Replaces -0, which JSON allows, with 0: it would be stored as a double. */
function Elevel() {
  const message = 'must be a whole number from 0, such as 2';
  return applyDecorators(
    Transform(({ value }: { value: unknown }) => (value === 0 ? 0 : value)),
    IsInt({ message }),
    Min(0, { message }),
    Max(Number.MAX_SAFE_INTEGER, { message }),
    ApiProperty({ type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER, example: 2 }),
  );
}

/** Keeps the list as it was sent, because class-transformer is slow on long lists. */
const Channels = () =>
  applyDecorators(
    Transform(({ obj }: { obj: { channels?: unknown } }) => obj.channels),
    CheckedBy(channelsFaults),
    ApiProperty({ type: 'array', items: { type: 'string', maxLength: LONGEST_TEXT }, example: ['web'] }),
  );

/**
 * Keeps the object as it was sent, because class-transformer would drop properties such as `toString`. In patches,
 * sections and properties may be null.
 */
const Extrafields = (faultsIn: (value: unknown) => InputFault[], { nullable }: { nullable: boolean }) =>
  applyDecorators(
    Transform(({ obj }: { obj: { extrafields?: unknown } }) => obj.extrafields),
    CheckedBy(faultsIn),
    ApiProperty({
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
    }),
  );

/** The body of `POST /member`. */
export class CreateMember {
  @AccountNumber()
  accountnumber: string;

  @Email()
  email: string;

  @Optional()
  @Channels()
  channels?: string[];

  @Optional()
  @Elevel()
  elevel?: number;

  @Optional()
  @Text('Ann Example')
  contactname?: string;

  @Optional()
  @Text('$argon2id$v=19$…', LONGEST_PASSWORDHASH)
  passwordhash?: string;

  @Optional()
  @Extrafields(extrafieldsFaults, { nullable: false })
  extrafields?: Record<string, Record<string, string | boolean>>;
}

/** The body of `PATCH /member/{memberid}`: only the given properties change. */
export class PatchMember {
  @Optional()
  @AccountNumber()
  accountnumber?: string;

  @Optional()
  @Email()
  email?: string;

  @Deletable()
  @Channels()
  channels?: string[] | Deletion;

  @Deletable()
  @Elevel()
  elevel?: number | Deletion;

  @Deletable()
  @Text('Ann Example')
  contactname?: string | null;

  @Deletable()
  @Text('$argon2id$v=19$…', LONGEST_PASSWORDHASH)
  passwordhash?: string | null;

  @Deletable()
  @Extrafields(extrafieldsPatchFaults, { nullable: true })
  extrafields?: Record<string, Record<string, string | boolean | null> | Deletion> | Deletion;
}

/** The body of `PATCH /member/{memberid}/address`: only the given fields change; null empties a field. */
export class PatchAddress {
  @Deletable()
  @Text('Main Street 1')
  address?: string | null;

  @Deletable()
  @Text('Building C')
  address2?: string | null;

  @Deletable()
  @Text('1010')
  zipcode?: string | null;

  @Deletable()
  @Text('Vienna')
  city?: string | null;

  @Deletable()
  @Text('AT')
  country?: string | null;
}

/** The body of a write, as an instance of the parameter's class. */
export const JsonBody = () => RequestBody(BodyPipe);

/**
 * Converts a body to its DTO class, or throws a 400 that names each wrong property. Nest's own pipe is not used: it
 * silently drops properties such as `prototype`, and its errors do not locate faults inside a property.
 */
@Injectable()
export class BodyPipe implements PipeTransform<object, object> {
  transform(body: object, { metatype }: ArgumentMetadata): object {
    refuse(bodyFaults(body));
    const shape = metatype as ClassConstructor<object>;
    const unknown = unknownProperties(shape, body);
    if (unknown.length === MOST_FAULTS) refuse(unknown);
    const shaped = plainToInstance(shape, body);
    const wrong = validateSync(shaped, { stopAtFirstError: true });
    refuse([...unknown, ...wrong.flatMap(inputErrors)]);
    return shaped;
  }
}

function refuse(errors: InputError[]): void {
  if (errors.length > 0) throw problems.invalidRequest(errors.slice(0, MOST_FAULTS));
}

function unknownProperties(shape: ClassConstructor<object>, body: object): InputError[] {
  const rules = getMetadataStorage().getTargetValidationMetadatas(shape, '', false, false);
  const known = new Set(rules.map((rule) => rule.propertyName));
  return Object.keys(body)
    .filter((name) => !known.has(name))
    .slice(0, MOST_FAULTS)
    .map((name) => ({
      pointer: pointerTo('', name),
      detail: `is an unknown property. Known properties: ${[...known].join(', ')}.`,
    }));
}

function inputErrors(error: ValidationError): InputError[] {
  const pointer = pointerTo('', error.property);
  const inside = faultsOf(error);
  if (inside !== undefined) return inside.map((fault) => ({ ...fault, pointer: pointer + fault.pointer }));
  return Object.values(error.constraints ?? {}).map((detail) => ({ pointer, detail }));
}
