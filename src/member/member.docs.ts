import { applyDecorators, type Type } from '@nestjs/common';
import { ApiBody, ApiHeader, ApiOperation, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import { InApplication } from '../application/index.js';
import { Problems } from '../http/index.js';
import { MemberItem } from './dto/member-item.js';

const ETAG = {
  description: 'Digest of the stored record, for If-Match',
  schema: { type: 'string' },
} as const;

const MEMBERID = ApiParam({
  name: 'memberid',
  description: 'The `id` of the member',
  schema: { type: 'string', minLength: 1, example: '0b5cc0a6-3f4e-4d0b-9b0a-0f6a4b1f7c55' },
});

/** What all routes of the controller share in the OpenAPI document. */
export const DocumentedMembers = () => applyDecorators(ApiTags('members'), InApplication());

export const DocumentedCreate = (body: Type) =>
  applyDecorators(
    ApiBody({ type: body }),
    ApiOperation({ summary: 'Makes a member' }),
    ApiResponse({
      status: 201,
      description: 'The new member',
      type: MemberItem,
      headers: {
        ETag: ETAG,
        Location: {
          description: 'Path of the member, relative to the URL of the request',
          schema: { type: 'string' },
        },
      },
    }),
    Problems(400, 401, 403, 404, 409, 413, 415, 429, 500, 503),
  );

export const DocumentedPatch = (summary: string, body: Type) =>
  applyDecorators(
    ApiBody({ type: body }),
    ApiOperation({
      summary,
      description: 'Only the properties present change; null or "" deletes what is stored.',
    }),
    MEMBERID,
    ApiHeader({
      name: 'If-Match',
      required: false,
      description: 'ETag of the member that the change is meant for',
    }),
    ApiResponse({ status: 200, description: 'The member', type: MemberItem, headers: { ETag: ETAG } }),
    Problems(400, 401, 403, 404, 409, 412, 413, 415, 429, 500, 503),
  );

export const DocumentedRead = () =>
  applyDecorators(
    ApiOperation({ summary: 'Shows a member' }),
    MEMBERID,
    ApiHeader({
      name: 'If-None-Match',
      required: false,
      description: 'ETag of the member that is known already',
    }),
    ApiResponse({ status: 200, description: 'The member', type: MemberItem, headers: { ETag: ETAG } }),
    ApiResponse({ status: 304, description: 'The member is the one known', headers: { ETag: ETAG } }),
    Problems(400, 401, 404, 429, 500, 503),
  );
