import { applyDecorators } from '@nestjs/common';
import { ApiQuery } from '@nestjs/swagger';
import mongoose from 'mongoose';
import type { Parsed } from '../../platform/common/index.js';
import { type ParameterReader, parseFlag, readParameters } from '../../platform/http/index.js';

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
      description: 'The value of `next` from the previous page',
      schema: { type: 'string', pattern: '^([0-9a-fA-F]{24})?$' },
    }),
    ApiQuery({
      name: 'limit',
      required: false,
      schema: { type: 'integer', minimum: 1, maximum: most, default: usual },
    }),
  );

/** The page that the parameters of {@link TakesPage} ask for. */
export function pageIn(read: ParameterReader, sizes: PageSizes) {
  return {
    before: read('before', parseBefore),
    limit: read('limit', (text) => parseLimit(text, sizes)) ?? sizes.usual,
  };
}

/** A page of a list from which one entry more than its limit was read; `next` is empty on the last page. */
export function pageOf<T>(
  read: T[],
  limit: number,
  nameOf: (entry: T) => string,
): { result: T[]; next: string } {
  const result = read.slice(0, limit);
  return { result, next: read.length > limit ? nameOf(result.at(-1)!) : '' };
}

function parseBefore(text: string): Parsed<InstanceType<typeof ObjectId> | undefined> {
  if (text === '') return { value: undefined };
  return OBJECT_ID.test(text)
    ? { value: new ObjectId(text) }
    : { error: 'is not 24 hex digits. Send the value of `next` from the previous page.' };
}

function parseLimit(text: string, { most, usual }: PageSizes): Parsed<number> {
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  return limit >= 1 && limit <= most
    ? { value: limit }
    : { error: `is not a whole number from 1 to ${most}, such as ${usual}.` };
}

/** The parameter `purge` of a removal; false if it is not sent. Throws 400 for any other value than `true` and `false`. */
export function readPurge(query: Record<string, unknown>): boolean {
  return readParameters(query, (read) => read('purge', parseFlag)) ?? false;
}
