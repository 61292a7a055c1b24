import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
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
} from 'class-validator';
import {
  channelsFaults,
  type InputFault,
  isDeletion,
  LONGEST_EMAIL,
  LONGEST_TEXT,
  MOST_PROPERTIES,
  MOST_SECTIONS,
  RIGHT_NAMES,
} from './body-faults.js';

const NAME = 'checkedBy';

/** Validates a property by a function that also knows where inside it something is wrong. */
function CheckedBy(faultsIn: (value: unknown) => InputFault[]): PropertyDecorator {
  return ValidateBy(
    {
      name: NAME,
      validator: { validate: (value) => faultsIn(value).length === 0, defaultMessage: () => 'is not valid' },
    },
    { context: { faultsIn } },
  );
}

/** The faults behind an error of {@link CheckedBy}; nothing for errors of other rules. */
export function faultsOf(error: ValidationError): InputFault[] | undefined {
  const context = error.contexts?.[NAME] as { faultsIn: (value: unknown) => InputFault[] } | undefined;
  return context?.faultsIn(error.value);
}

/** As long as an address can be at most, so that a longer text is not looked through. */
const EMAIL = new RegExp(`^[^\\s@]{1,${LONGEST_EMAIL}}@[^\\s@]{1,${LONGEST_EMAIL}}$`);

/** The property may be left out; null is no value. */
export const Optional = () =>
  applyDecorators(
    ValidateIf((_body, value) => value !== undefined),
    ApiProperty({ required: false }),
  );

/** The property of a patch may be left out, and null or "" deletes what is stored. */
export const Deletable = () =>
  applyDecorators(
    ValidateIf((_body, value) => value !== undefined && !isDeletion(value)),
    ApiProperty({ required: false, nullable: true }),
  );

export function Text(example: string, longest = LONGEST_TEXT) {
  const message = `must be a text of at most ${longest} characters, such as "${example}"`;
  return applyDecorators(
    IsString({ message }),
    MaxLength(longest, { message }),
    ApiProperty({ type: 'string', maxLength: longest, example }),
  );
}

/** A text that every member has. */
export function AccountNumber() {
  const message = `must be a text of 1 to ${LONGEST_TEXT} characters, such as "4711"; every member has one`;
  return applyDecorators(
    IsString({ message }),
    Length(1, LONGEST_TEXT, { message }),
    ApiProperty({ type: 'string', minLength: 1, maxLength: LONGEST_TEXT, example: '4711' }),
  );
}

/** Blanks at both ends are cut before anything else looks at it; case is kept. */
export function Email() {
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

/** JSON knows -0, a whole number that would be stored as a fraction. */
export function Elevel() {
  const message = 'must be a whole number from 0, such as 2';
  return applyDecorators(
    Transform(({ value }: { value: unknown }) => (value === 0 ? 0 : value)),
    IsInt({ message }),
    Min(0, { message }),
    Max(Number.MAX_SAFE_INTEGER, { message }),
    ApiProperty({ type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER, example: 2 }),
  );
}

/** The list stays as it came: class-transformer would take a long time over a long one. */
export const Channels = () =>
  applyDecorators(
    Transform(({ obj }: { obj: { channels?: unknown } }) => obj.channels),
    CheckedBy(channelsFaults),
    ApiProperty({ type: 'array', items: { type: 'string', maxLength: LONGEST_TEXT }, example: ['web'] }),
  );

/**
 * The object stays as it came: class-transformer would drop properties such as `toString`. In patches sections and
 * properties may be null.
 */
export const Extrafields = (
  faultsIn: (value: unknown) => InputFault[],
  { nullable }: { nullable: boolean },
) =>
  applyDecorators(
    Transform(({ obj }: { obj: { extrafields?: unknown } }) => obj.extrafields),
    CheckedBy(faultsIn),
    ApiProperty({
      type: 'object',
      description: `Named sections, each an object of texts or booleans. ${RIGHT_NAMES}`,
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
