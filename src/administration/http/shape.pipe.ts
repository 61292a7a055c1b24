import type { PipeTransform } from '@nestjs/common';
import { ApiBody } from '@nestjs/swagger';
import { TimeSlice } from '../../common/index.js';
import { OptionalRequestBody, RequestBody } from '../../body/index.js';
import { type Fields, schemaOf, shaped, type Shaped } from '../index.js';

/** Reads a body by its fields. */
class ShapePipe<F extends Fields> implements PipeTransform<object, Promise<Shaped<F>>> {
  constructor(private readonly fields: F) {}

  transform(body: object): Promise<Shaped<F>> {
    return new TimeSlice().take(shaped(this.fields, body));
  }
}

/** The body of a request, as the fields describe it. */
export const Body = (fields: Fields) => RequestBody(new ShapePipe(fields));

/** The same, where no body stands for one without properties. */
export const OptionalBody = (fields: Fields) => OptionalRequestBody(new ShapePipe(fields));

/** The body for the OpenAPI document. */
export const DocumentedBody = (fields: Fields) => ApiBody({ schema: schemaOf(fields) });

export const DocumentedOptionalBody = (fields: Fields) =>
  ApiBody({ schema: schemaOf(fields), required: false });
