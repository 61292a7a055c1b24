import { applyDecorators } from '@nestjs/common';
import { ApiQuery } from '@nestjs/swagger';
import mongoose from 'mongoose';
import { problems } from '../../platform/http/index.js';

const { ObjectId } = mongoose.mongo;
const OBJECT_ID = /^[0-9a-f]{24}$/i;

/** How many entries a page of a list may have, and has by default. */
interface PageSizes {
  most: number;
  usual: number;
}

/** The parameters of a list that is read page by page, the newest first. */
export const TakesPage = ({ most, usual }: PageSizes) =>
  applyDecorators(
    ApiQuery({
      name: 'before',
      required: false,
      description: '`next` of the page before',
      schema: { type: 'string', pattern: '^([0-9a-fA-F]{24})?$' },
    }),
    ApiQuery({
      name: 'limit',
      required: false,
      schema: { type: 'integer', minimum: 1, maximum: most, default: usual },
    }),
  );

export function beforeOf(text: unknown): InstanceType<typeof ObjectId> | undefined {
  if (text === undefined || text === '') return undefined;
  if (typeof text === 'string' && OBJECT_ID.test(text)) return new ObjectId(text);
  throw wrong('before', 'is not 24 hex digits. Send the next of the page before.');
}

export function limitOf(text: unknown, { most, usual }: PageSizes): number {
  if (text === undefined) return usual;
  const limit = typeof text === 'string' && /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= most) return limit;
  throw wrong('limit', `is not a whole number from 1 to ${most}, such as ${usual}.`);
}

export function wrong(parameter: string, detail: string): Error {
  return problems.invalidRequest([{ parameter, detail }]);
}
