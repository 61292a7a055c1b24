import { applyDecorators } from '@nestjs/common';
import { ApiBasicAuth, ApiParam } from '@nestjs/swagger';
import { NAME_SCHEMA } from '../common/index.js';

/** Describes the path parameters that name an application. */
export const NamesApplication = () =>
  applyDecorators(
    ApiParam({
      name: 'org',
      description: 'Identifier of the organization',
      schema: { ...NAME_SCHEMA, example: 'acme' },
    }),
    ApiParam({
      name: 'app',
      description: 'Identifier of the application',
      schema: { ...NAME_SCHEMA, example: 'webshop' },
    }),
  );

/** Describes what all routes within an application have: its names in the path, and credentials. */
export const InApplication = () => applyDecorators(ApiBasicAuth(), NamesApplication());
