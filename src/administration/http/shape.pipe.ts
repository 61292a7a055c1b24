import type { PipeTransform } from '@nestjs/common';
import { ApiBody } from '@nestjs/swagger';
import { RequestBody } from '../../body/index.js';
import { type Fields, schemaOf, type Shaped, shaped } from './fields.js';

/** Reads a body by its fields. */
class ShapePipe<F extends Fields> implements PipeTransform<object, Shaped<F>> {
  constructor(private readonly fields: F) {}

  transform(body: object): Shaped<F> {
    return shaped(this.fields, body);
  }
}

/** The body of a request, as the fields describe it. */
export const Body = (fields: Fields) => RequestBody(new ShapePipe(fields));

/** The same for the OpenAPI document. */
export const DocumentedBody = (fields: Fields) => ApiBody({ schema: schemaOf(fields) });
