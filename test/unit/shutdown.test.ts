import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Logger } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { stopOnSignals } from '../../src/start.js';

let server: Server;
let exit: jest.SpyInstance;
let logged: jest.SpyInstance;
const beUnready = jest.fn();
const endStreams = jest.fn();
const stopDatabase = jest.fn(() => Promise.resolve());
const say = jest.fn();

/** A server whose one request never ends by itself. */
beforeEach(async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] });
  exit = jest.spyOn(process, 'exit').mockImplementation();
  logged = jest.spyOn(Logger.prototype, 'log').mockImplementation();
  beUnready.mockReset();
  endStreams.mockReset();
  stopDatabase.mockClear();
  say.mockClear();
  server = createServer(() => undefined).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => {
  jest.useRealTimers();
  exit.mockRestore();
  logged.mockRestore();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.removeAllListeners(signal);
});

function stopOnSignalsWith(close: () => Promise<unknown>): void {
  stopOnSignals({ getHttpServer: () => server, close } as unknown as NestExpressApplication, {
    say,
    beUnready,
    endStreams,
    stopDatabase,
  });
}
const closed = () => new Promise((resolve) => server.close(resolve));

/** What people and the log are told, in this order. */
const told = (listener: jest.Mock | jest.SpyInstance) =>
  (listener.mock.calls as unknown[][]).map(([line]) => line).filter((line) => line !== '');

/** One request that never ends. */
async function begin(): Promise<{ cut: Promise<unknown> }> {
  const { port } = server.address() as AddressInfo;
  const running = request({ port, host: '127.0.0.1' });
  const cut = once(running, 'error');
  running.end();
  await once(server, 'request');
  return { cut };
}

async function exited(): Promise<unknown> {
  while (exit.mock.calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
  expect(exit).toHaveBeenCalledTimes(1);
  expect(stopDatabase).toHaveBeenCalledTimes(1);
  return exit.mock.calls[0]?.[0] as unknown;
}

describe('On SIGTERM or SIGINT the service stops listening, finishes what runs (10 s at most) and exits 0', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('%s', async (signal) => {
    stopOnSignalsWith(closed);
    const { cut } = await begin();
    process.emit(signal);
    process.emit(signal);
    expect(beUnready).toHaveBeenCalledTimes(1);
    expect(server.listening).toBe(false);
    jest.advanceTimersByTime(9_999);
    expect(exit).not.toHaveBeenCalled();
    jest.advanceTimersByTime(1);
    await cut;
    expect(await exited()).toBe(0);
  });

  it('also where something waits for a database that is frozen', async () => {
    stopOnSignalsWith(() => new Promise(() => undefined));
    process.emit('SIGTERM');
    jest.advanceTimersByTime(12_000);
    expect(await exited()).toBe(0);
  });

  it('exits 1 where the end goes wrong', async () => {
    stopDatabase.mockRejectedValueOnce(new Error('cannot stop'));
    stopOnSignalsWith(closed);
    process.emit('SIGTERM');
    expect(await exited()).toBe(1);
    expect(told(logged).at(-1)).toBe('Stopped, but not in good order: cannot stop');
  });
});

describe('Ctrl-C says what it does', () => {
  it('to who pressed it: how many requests end first, and when all has ended', async () => {
    stopOnSignalsWith(closed);
    const { cut } = await begin();
    process.emit('SIGINT');
    expect(told(say)).toEqual(['Stopping: 1 request ends first, 10 s at most. Ctrl-C again ends at once.']);
    jest.advanceTimersByTime(10_000);
    await cut;
    await exited();
    expect(told(say).slice(1)).toEqual(['Stopped.']);
    expect(told(logged)).toEqual([]);
  });

  it('where no request runs', async () => {
    stopOnSignalsWith(closed);
    process.emit('SIGINT');
    await exited();
    expect(told(say)).toEqual(['Stopping. Ctrl-C again ends at once.', 'Stopped.']);
  });

  it('with another it ends at once; the one that npm passes on is no other', () => {
    stopOnSignalsWith(() => new Promise(() => undefined));
    process.emit('SIGINT');
    jest.advanceTimersByTime(1000);
    process.emit('SIGINT');
    expect(exit).not.toHaveBeenCalled();
    jest.advanceTimersByTime(1);
    process.emit('SIGINT');
    expect(exit.mock.calls).toEqual([[130]]);
  });

  it.each(['SIGTERM', 'SIGHUP'] as const)('%s tells the log instead', async (signal) => {
    stopOnSignalsWith(closed);
    process.emit(signal);
    await exited();
    expect(told(logged)).toEqual([`Stopping on ${signal}.`, 'Stopped.']);
    expect(told(say)).toEqual([]);
  });
});
