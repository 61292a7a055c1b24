import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import { type ClassConstructor, plainToInstance } from 'class-transformer';
import { getMetadataStorage, validateSync, type ValidationError } from 'class-validator';
import { type InputError, problems } from '../../http/index.js';
import { faultsOf } from '../faults/checked-by.js';
import { bodyFaults, MOST_FAULTS } from '../faults/body-faults.js';
import { pointerTo } from '../faults/pointer.js';

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
