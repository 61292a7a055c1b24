import { ServiceLogger } from '../../../../src/platform/observability/index.js';

/** What a logger writes. */
function textOf(logFormat: string, logLevel: string, speak: (logger: ServiceLogger) => void): string {
  const texts: string[] = [];
  speak(new ServiceLogger({ logLevel, logFormat }, { output: { write: (text) => void texts.push(text) } }));
  return texts.join('');
}

/** What a logger of a level writes, line by line, without the time, the host and the process. */
function linesOf(level: string, speak: (logger: ServiceLogger) => void): object[] {
  const lines = textOf('json', level, speak).split('\n').filter(Boolean);
  return lines.map((line) => {
    const {
      time: _time,
      pid: _pid,
      hostname: _hostname,
      ...rest
    } = JSON.parse(line) as Record<string, unknown>;
    return rest;
  });
}

it('JSON has ISO times', () => {
  const before = Date.now();
  const { time } = JSON.parse(textOf('json', 'info', (logger) => logger.log('x', 'X'))) as { time: string };
  expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(Date.parse(time)).toBeGreaterThanOrEqual(before);
});

it('JSON has what a terminal acts on as escapes only, and is the same', () => {
  const msg = 'a \u001b[31m \u009b2J \u202e \u2028 \u200b z';
  const text = textOf('json', 'info', (logger) => logger.log(msg, 'X'));
  expect(text).not.toMatch(/[^\n\P{Cc}]|[\p{Cf}\p{Zl}\p{Zp}]/u);
  expect(text).toMatch(/^[^\n]+\n$/);
  expect(JSON.parse(text)).toMatchObject({ msg });
});

it('`lines` are for people, each ended by a line break', () => {
  const text = textOf('lines', 'info', (logger) => {
    logger.log('Connected', 'Preparation');
    logger.warn(new Error('alone'), 'Watcher');
  });
  expect(text).toMatch(/^\S+ \S+ info {2}Preparation: Connected\n\S+ \S+ warn {2}Watcher: alone\n$/);
});

it('a text, with the name of who speaks, and a stack where Nest gives one', () => {
  const lines = linesOf('info', (logger) => {
    logger.log('Connected', 'Preparation');
    logger.error('It broke', 'at one (two.js:3)', 'Router');
  });
  expect(lines).toEqual([
    { level: 'info', context: 'Preparation', msg: 'Connected' },
    { level: 'error', context: 'Router', stack: 'at one (two.js:3)', msg: 'It broke' },
  ]);
});

it('an error, by itself or beside a text', () => {
  const lines = linesOf('info', (logger) => {
    logger.warn(new Error('alone'), 'Watcher');
    logger.error({ err: new Error('cause'), requestId: 'r-1' }, 'It broke', 'Problem');
  });
  expect(lines).toMatchObject([
    { level: 'warn', context: 'Watcher', err: { message: 'alone' }, msg: 'alone' },
    { level: 'error', context: 'Problem', err: { message: 'cause' }, requestId: 'r-1', msg: 'It broke' },
  ]);
});

it('what Nest tells of its own start is for its developers', () => {
  const speak = (logger: ServiceLogger) => logger.log('Mapped {/max, GET} route', 'RouterExplorer');
  expect(linesOf('info', speak)).toEqual([]);
  expect(linesOf('debug', speak)).toMatchObject([{ level: 'debug' }]);
});

it('what goes wrong in it is told by whoever started it', () => {
  const speak = (logger: ServiceLogger) => logger.error('Error: listen EADDRINUSE', 'NestApplication');
  expect(linesOf('info', speak)).toEqual([]);
});

it('a request is put together only where somebody reads it', () => {
  const line = jest.fn(() => ({
    req: { id: 'r-1', method: 'GET', url: '/max' },
    res: { statusCode: 200 },
    responseTime: 3,
  }));
  expect(linesOf('warn', (logger) => logger.request(200, line))).toEqual([]);
  expect(line).not.toHaveBeenCalled();
  expect(linesOf('info', (logger) => logger.request(200, line))).toEqual([
    { level: 'info', ...line(), msg: 'request ended' },
  ]);
  expect(linesOf('warn', (logger) => logger.request(503, line))).toMatchObject([{ level: 'error' }]);
});

it.each([
  [200, 'info'],
  [404, 'info'],
  [499, 'info'],
  [500, 'error'],
  [503, 'error'],
])('a request that ends with %i is logged at the level %s', (status, level) => {
  const line = () => ({
    req: { id: 'r-1', method: 'GET', url: '/max' },
    res: { statusCode: status },
    responseTime: 3,
  });
  expect(linesOf('info', (logger) => logger.request(status, line))).toMatchObject([{ level }]);
});

describe('an error', () => {
  /** The lines that a logger writes of errors, the messages of some of which are those of an outage. */
  const ofErrors = (...errors: Error[]) => {
    const texts: string[] = [];
    const logger = new ServiceLogger(
      { logLevel: 'info', logFormat: 'json' },
      {
        output: { write: (text) => void texts.push(text) },
        isOutage: (error) => (error as Error).message.startsWith('connect'),
      },
    );
    for (const err of errors) logger.error({ err, requestId: 'r' }, 'It failed', 'Problem');
    return texts.map((text) => JSON.parse(text) as { err: Record<string, unknown>; withheld?: number });
  };
  const rich = (message: string) =>
    Object.assign(new Error(message), {
      ...{ code: 189, codeName: 'PrimarySteppedDown', reason: { servers: 'x'.repeat(5000) } },
      errorResponse: { $clusterTime: { clusterTime: 1 } },
    });

  it('is logged with its code, and without what else the driver hangs on it', () => {
    const [line] = ofErrors(rich('a query failed'));
    expect(line!.err).toEqual({
      ...{ type: 'Error', message: 'a query failed', code: 189, codeName: 'PrimarySteppedDown' },
      stack: expect.stringContaining('at '),
    });
  });

  it('of an outage is logged without a stack, and its message is cut', () => {
    const [line] = ofErrors(rich(`connect ${'x'.repeat(2000)}`));
    expect(line!.err).not.toHaveProperty('stack');
    expect(JSON.stringify(line).length).toBeLessThan(1024);
  });

  it('of an outage is logged once in five minutes for each cause, with how many lines were withheld', () => {
    jest.useFakeTimers({ now: 0 });
    try {
      const refused = (port: number) => new Error(`connect ECONNREFUSED 127.0.0.1:${port}`);
      expect(ofErrors(refused(1), refused(2), new Error('connect ENOTFOUND db1'), refused(3))).toHaveLength(
        2,
      );
      const texts: string[] = [];
      const logger = new ServiceLogger(
        { logLevel: 'info', logFormat: 'json' },
        { output: { write: (text) => void texts.push(text) }, isOutage: () => true },
      );
      for (const minutes of [0, 1, 3, 2]) {
        jest.advanceTimersByTime(minutes * 60_000);
        logger.error({ err: refused(1) }, 'It failed', 'Problem');
      }
      expect(texts.map((text) => (JSON.parse(text) as { withheld?: number }).withheld)).toEqual([
        undefined,
        2,
      ]);
    } finally {
      jest.useRealTimers();
    }
  });

  it('that is a fault of the program is logged each time', () => {
    expect(ofErrors(new TypeError('x is not a function'), new TypeError('x is not a function'))).toHaveLength(
      2,
    );
  });

  it('says what caused it, once', () => {
    const [told, untold] = ofErrors(
      new Error('A', { cause: new Error('B', { cause: new Error('C') }) }),
      new Error('no way: B', { cause: new Error('B') }),
    );
    expect([told!.err['message'], untold!.err['message']]).toEqual(['A: B: C', 'no way: B']);
  });
});
