import { ServiceLogger } from '../../../src/observability/index.js';

/** What a logger of a level writes, line by line, without the time, the host and the process. */
function linesOf(level: string, speak: (logger: ServiceLogger) => void): object[] {
  const lines: object[] = [];
  const output = {
    write: (text: string) => {
      const {
        time: _time,
        pid: _pid,
        hostname: _hostname,
        ...line
      } = JSON.parse(text) as Record<string, unknown>;
      lines.push(line);
    },
  };
  speak(new ServiceLogger(level, output));
  return lines;
}

it('a text, with the name of who speaks, and a stack where Nest gives one', () => {
  const lines = linesOf('info', (logger) => {
    logger.log('Connected', 'Preparation');
    logger.error('It broke', 'at one (two.js:3)', 'Router');
  });
  expect(lines).toEqual([
    { level: 30, context: 'Preparation', msg: 'Connected' },
    { level: 50, context: 'Router', stack: 'at one (two.js:3)', msg: 'It broke' },
  ]);
});

it('an error, by itself or beside a text', () => {
  const lines = linesOf('info', (logger) => {
    logger.warn(new Error('alone'), 'Watcher');
    logger.error({ err: new Error('cause'), requestId: 'r-1' }, 'It broke', 'Problem');
  });
  expect(lines).toMatchObject([
    { level: 40, context: 'Watcher', err: { message: 'alone' }, msg: 'alone' },
    { level: 50, context: 'Problem', err: { message: 'cause' }, requestId: 'r-1', msg: 'It broke' },
  ]);
});

it('what Nest tells of its own start is for its developers', () => {
  const speak = (logger: ServiceLogger) => logger.log('Mapped {/max, GET} route', 'RouterExplorer');
  expect(linesOf('info', speak)).toEqual([]);
  expect(linesOf('debug', speak)).toMatchObject([{ level: 20 }]);
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
    { level: 30, ...line(), msg: 'request ended' },
  ]);
  expect(linesOf('warn', (logger) => logger.request(503, line))).toMatchObject([{ level: 50 }]);
});
