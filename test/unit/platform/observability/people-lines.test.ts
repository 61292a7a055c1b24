import { type LogEntry, peopleLine } from '../../../../src/platform/observability/logging.js';

const AT = new Date(2026, 10, 24, 9, 5, 7, 8);
const entry = (more: Partial<LogEntry>): LogEntry => ({
  level: 'info',
  time: AT.toISOString(),
  pid: 1,
  hostname: 'host',
  ...more,
});
/** Without the time. */
const said = (more: Partial<LogEntry>) => peopleLine(entry(more)).slice('2026-11-24 09:05:07.008 '.length);
const stack = 'TypeError: x is not a function\n    at one (/two.js:3:4)\n    at three (/four.js:5:6)';

describe('a line of the log for people', () => {
  it('has the local time, the level as a word, who speaks, and what', () => {
    expect(peopleLine(entry({ context: 'Watcher', msg: 'This instance leads, term 1' }))).toBe(
      '2026-11-24 09:05:07.008 info  Watcher: This instance leads, term 1',
    );
  });

  it('tells of a request in a few words, with what else is known behind them', () => {
    const request = {
      msg: 'request ended',
      req: { id: 'r-1', method: 'GET', url: '/acme/shop/api/v1/product/max' },
      res: { statusCode: 200 },
      responseTime: 3,
      ...{ user: 'ann lee', items: 2 },
    };
    expect(said(request)).toBe(
      'info  GET /acme/shop/api/v1/product/max 200 in 3 ms user="ann lee" items=2 request=r-1',
    );
    expect(said({ ...request, res: { statusCode: null } })).toBe(
      'info  GET /acme/shop/api/v1/product/max not answered in 3 ms user="ann lee" items=2 request=r-1',
    );
  });

  it('tells of an error by its message, once', () => {
    const err = {
      type: 'MongoNetworkError',
      message: 'connection closed',
      stack: 'MongoNetworkError: …\n    at x',
    };
    expect(
      said({ level: 'error', context: 'Problem', msg: 'The database is away', err, requestId: 'r-1' }),
    ).toBe('error Problem: The database is away: connection closed requestId=r-1');
    expect(said({ level: 'warn', msg: 'connection closed', err })).toBe('warn  connection closed');
  });

  it('has the stack below where a fault of the program is told', () => {
    const frames = '\n    at one (/two.js:3:4)\n    at three (/four.js:5:6)';
    const err = { type: 'TypeError', message: 'x is not a function', stack };
    expect(said({ level: 'error', msg: 'Internal error', err })).toBe(
      `error Internal error: x is not a function${frames}`,
    );
    expect(said({ level: 'error', msg: 'It broke', stack })).toBe(`error It broke${frames}`);
  });

  it.each([
    ['a name of its own tells the cause', 'error', { type: 'DeadlineError', message: 'late', stack }],
    ['the operating system tells it', 'error', { type: 'Error', message: 'late', stack, syscall: 'connect' }],
    ['it is no more than a warning', 'warn', { type: 'TypeError', message: 'late', stack }],
  ])('is one line where %s', (_why, level, err) => {
    expect(said({ level, msg: 'It broke', err })).toBe(`${level.padEnd(5)} It broke: late`);
  });

  it('is one line whatever others have put into it', () => {
    expect(said({ msg: 'one\n  two\x1b[2J', user: 'a\nb\x9b' })).toBe(
      'info  one two\\u001b[2J user="a\\nb\\u009b"',
    );
    const url = '/\x9b2J';
    expect(said({ req: { id: 'r', method: 'GET', url }, res: { statusCode: 404 }, responseTime: 0 })).toBe(
      'info  GET /\\u009b2J 404 in 0 ms request=r',
    );
  });
});
