import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import { type ClassConstructor, plainToInstance } from 'class-transformer';
import { getMetadataStorage, validateSync, type ValidationError } from 'class-validator';
import { RequestBody } from '../body/index.js';
import { type InputError, problems } from '../http/index.js';
import {
  bodyFaults,
  type Deletion,
  extrafieldsFaults,
  extrafieldsPatchFaults,
  LONGEST_PASSWORDHASH,
  MOST_FAULTS,
  pointerTo,
} from './body-faults.js';
import {
  AccountNumber,
  Channels,
  Deletable,
  Elevel,
  Email,
  Extrafields,
  faultsOf,
  Optional,
  Text,
} from './rules.js';

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

/** The body of `PATCH /member/{memberid}`: only the properties present change. */
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

/** The body of `PATCH /member/{memberid}/address`: only the fields present change; null makes a field empty. */
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
 * Makes an instance of the DTO class of a body, or throws the 400 that names each wrong property. Nest's own pipe is
 * not used: it silently drops properties such as `prototype`, and its errors know no places inside a property.
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
