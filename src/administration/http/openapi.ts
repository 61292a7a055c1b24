import { ApiHeader, ApiParam } from '@nestjs/swagger';
import { NAME_SCHEMA } from '../../common/index.js';
import { KINDS } from '../../record/index.js';

export const NamesKind = ApiParam({
  name: 'kind',
  description: 'Which records it is about',
  schema: { type: 'string', enum: [...KINDS] },
});

export const NamesService = ApiParam({
  name: 'name',
  description: 'Name of the service; not `default`, `max` or `harddeletes`',
  schema: { ...NAME_SCHEMA, example: 'erp' },
});

export const NamesRecord = ApiParam({
  name: 'id',
  description: 'The `id` of the record',
  schema: { type: 'string', minLength: 1, example: 'product-0001' },
});

export const NamesCredential = ApiParam({
  name: 'username',
  description: 'User name of the credential',
  schema: { type: 'string', minLength: 1, example: 'harvester' },
});

/** A change is made only to what the caller has seen. */
export const TakesIfMatch = ApiHeader({
  name: 'If-Match',
  required: false,
  description: 'ETag of the version that the change is meant for',
});
