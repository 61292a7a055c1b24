import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { type Parsed, parseDate, shown } from '../../../common/index.js';
import { type InputError, problems } from '../../../http/index.js';
import type { DigestRequest } from '../page/digests.js';
import { readerOf, toIsMissing } from './parameters.js';

/** One byte identifies a bucket. */
const MOST_BUCKETS = 256;
/** The most buckets whose records can be listed. */
const MOST_LISTED = 64;
const NUMBER = /^\d{1,3}$/;

/** Parses the query string of a digest. Throws 400 with a sentence for each invalid parameter. */
export function parseDigest(query: Record<string, unknown>): DigestRequest {
  const errors: InputError[] = [];
  const read = readerOf(query, errors);
  const to = read('to', parseDate);
  const buckets = query['buckets'] === undefined ? MOST_BUCKETS : read('buckets', parseBuckets);
  const listed = listedIn(query['bucket'], buckets ?? MOST_BUCKETS);
  if ('error' in listed) errors.push({ parameter: 'bucket', detail: listed.error });
  if (query['to'] === undefined) errors.push(toIsMissing());
  if (to === undefined || buckets === undefined || 'error' in listed || errors.length > 0)
    throw problems.invalidRequest(errors);
  return { to, buckets, listed: listed.value };
}

function parseBuckets(text: string): Parsed<number> {
  const buckets = numberIn(text);
  return buckets >= 1 && buckets <= MOST_BUCKETS
    ? { value: buckets }
    : {
        error: `"${shown(text)}" is not a number of buckets. Send a whole number from 1 to ${MOST_BUCKETS}, such as ${MOST_BUCKETS}.`,
      };
}

/** The only parameter that may be repeated. */
function listedIn(sent: unknown, buckets: number): Parsed<Set<number>> {
  const texts = [sent ?? []].flat() as string[];
  if (texts.length > MOST_LISTED)
    return { error: `is given ${texts.length} times. Send it ${MOST_LISTED} times at most.` };
  const wrong = texts.find((text) => !(numberIn(text) < buckets));
  return wrong === undefined
    ? { value: new Set(texts.map(numberIn)) }
    : {
        error: `"${shown(wrong)}" is not a bucket. Send a whole number from 0 to ${buckets - 1}, such as 0.`,
      };
}

function numberIn(text: string): number {
  return NUMBER.test(text) ? Number(text) : NaN;
}

/** The digest that a request asks for. Throws 400 with a sentence for each invalid parameter. */
export const AskedDigest = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  parseDigest(context.switchToHttp().getRequest<Request>().query),
);
