import mongoose from 'mongoose';
import {
  databaseProblem,
  isDatabaseAway,
  isRefusedQuery,
  isRetryable,
  modifiedBefore,
  refusalsIn,
  refusedAsDuplicate,
} from '../../../../src/platform/database/index.js';

const { mongo } = mongoose;
const withCode = (code: string) => Object.assign(new Error('socket'), { code });
const server = (code: number, message = 'refused') => new mongo.MongoServerError({ code, message });

describe('503 with `Retry-After` while the database is away', () => {
  it.each<[string, unknown]>([
    ['no server can be reached', new mongo.MongoServerSelectionError('none', {} as never)],
    ['the connection breaks', new mongo.MongoNetworkError('broken')],
    ['no primary takes the request', server(10107)],
    ['a primary that has just started has no majority to read from', server(134)],
    ['a shutdown', server(91)],
    [
      'Mongoose has no connection yet',
      new mongoose.MongooseError('Cannot call `x.findOne()` before initial connection is complete'),
    ],
    [
      'the connection breaks under a bulk',
      new mongo.MongoBulkWriteError(new mongo.MongoNetworkError('broken'), {} as never),
    ],
    ['the socket is written to after its end', withCode('EPIPE')],
    ['the socket is reset', withCode('ECONNRESET')],
  ])('%s', (_name, error) => {
    expect(isDatabaseAway(error)).toBe(true);
    expect(databaseProblem(error)).toMatchObject({ status: 503, slug: 'database-away' });
    expect(databaseProblem(error)?.extras.headers).toHaveProperty('Retry-After');
  });

  it.each<[string, unknown]>([
    ['a refusal', server(13)],
    ['a wrong argument', new mongo.MongoInvalidArgumentError('wrong')],
    ['a fault of ours', new TypeError('x is undefined')],
    ['what is no error', undefined],
    ['null', null],
  ])('not for %s', (_name, error) => {
    expect(isDatabaseAway(error)).toBe(false);
    expect(databaseProblem(error)).toBeUndefined();
  });

  it('a query that took too long, and an index that is being made again, say so', () => {
    expect(databaseProblem(server(50))).toMatchObject({ status: 503, slug: 'query-timeout' });
    // Queries of the administration have no window.
    expect(databaseProblem(server(50))?.detail).toBe(
      'The query exceeded its time limit. Try again; in a feed, a narrower window is faster.',
    );
    const missing = server(
      2,
      'planner returned error: hint provided does not correspond to an existing index',
    );
    expect(databaseProblem(missing)).toMatchObject({ status: 503, slug: 'preparing' });
    expect(databaseProblem(server(2, 'another bad value'))).toBeUndefined();
  });
});

describe('single writes of a bulk that MongoDB refused', () => {
  const bulk = (...codes: number[]) => {
    const writeErrors = codes.map((code, index) => ({ index, code, errmsg: `code ${code}` }));
    return Object.assign(Object.create(mongo.MongoBulkWriteError.prototype) as object, { writeErrors });
  };

  it('duplicates, and documents that cannot take the write', () => {
    expect(refusalsIn(bulk(11000, 17419, 121))).toEqual([
      { index: 0, isDuplicate: true, isOfValidator: false, message: 'code 11000' },
      { index: 1, isDuplicate: false, isOfValidator: false, message: 'code 17419' },
      { index: 2, isDuplicate: false, isOfValidator: true, message: 'code 121' },
    ]);
    expect(refusedAsDuplicate(bulk(11000, 11000))).toEqual(new Set([0, 1]));
  });

  /** Whether what was not refused stays, nobody knows. */
  const unconfirmed = (...codes: number[]) => {
    const getWriteConcernError = () => ({ code: 64, errmsg: 'waiting for replication timed out' });
    return Object.assign(bulk(...codes), { result: { getWriteConcernError } });
  };

  it.each<[string, unknown]>([
    ['another code among them', bulk(11000, 8000)],
    ['no majority has confirmed the others', unconfirmed(11000)],
    ['no single write', bulk()],
    ['no bulk', server(11000)],
  ])('any other error goes on: %s', (_name, error) => {
    expect(() => refusalsIn(error)).toThrow();
    expect(() => refusedAsDuplicate(error)).toThrow();
  });

  it('what cannot be written is no duplicate', () => {
    expect(() => refusedAsDuplicate(bulk(11000, 121))).toThrow();
  });
});

it.each([43, 237, 11601])('a query that was cut off (%i) is asked again, then 503', (code) => {
  expect(isRetryable(server(code))).toBe(true);
  expect(databaseProblem(server(code))).toMatchObject({ status: 503, slug: 'database-away' });
});

it('a transaction that came to no end within its retries may be sent again: 503', () => {
  const cutOff = server(112);
  cutOff.addErrorLabel('TransientTransactionError');
  expect(databaseProblem(cutOff)).toMatchObject({ status: 503, slug: 'database-away' });
  expect(databaseProblem(server(112))).toBeUndefined();
});

describe('whether a query was refused for what it says', () => {
  it.each([2, 9, 14, 51091])('%i: it was', (code) => {
    expect(isRefusedQuery(server(code))).toBe(true);
  });

  it.each<[string, unknown]>([
    ['somebody ended it', server(11601)],
    ['it took too long', server(50)],
    ['the user may not ask', server(13)],
    ['there was no room for it', server(292)],
    ['its index is gone', server(2, 'error processing query: planner returned error :: bad hint')],
    ['its moment is gone', server(246)],
    ['it never came to the server', new mongo.MongoNetworkError('broken')],
  ])('it was not, where %s', (_name, error) => {
    expect(isRefusedQuery(error)).toBe(false);
  });
});

describe('the documents that a failed write has modified', () => {
  const expired = { code: 50, errmsg: 'operation exceeded time limit' };

  it('are counted if only the majority did not confirm them in time', () => {
    const reply = { n: 1000, nModified: 998, ok: 1, writeConcernError: expired };
    expect(modifiedBefore(new mongo.MongoWriteConcernError(reply))).toBe(998);
  });

  it.each<[string, unknown]>([
    ['a reply without a number', new mongo.MongoWriteConcernError({ ok: 1, writeConcernError: expired })],
    ['an interrupted write', server(50)],
    ['a broken connection', new mongo.MongoNetworkError('broken')],
  ])('are unknown after %s: 0', (_what, error) => {
    expect(modifiedBefore(error)).toBe(0);
  });
});
