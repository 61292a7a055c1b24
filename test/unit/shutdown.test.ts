import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { stopOnSignals } from '../../src/shutdown.js';

let server: Server;
let exit: jest.SpyInstance;
const stopDatabase = jest.fn(() => Promise.resolve());

/** A server whose one request never ends by itself. */
beforeEach(async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] });
  exit = jest.spyOn(process, 'exit').mockImplementation();
  stopDatabase.mockClear();
  server = createServer(() => undefined).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => {
  jest.useRealTimers();
  exit.mockRestore();
  process.removeAllListeners('SIGTERM').removeAllListeners('SIGINT');
});

function stopOnSignalsWith(close: () => Promise<unknown>): void {
  stopOnSignals({ getHttpServer: () => server, close } as unknown as NestExpressApplication, stopDatabase);
}
const closed = () => new Promise((resolve) => server.close(resolve));

async function exited(): Promise<unknown> {
  while (exit.mock.calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
  expect(exit).toHaveBeenCalledTimes(1);
  expect(stopDatabase).toHaveBeenCalledTimes(1);
  return exit.mock.calls[0]?.[0] as unknown;
}

describe('On SIGTERM or SIGINT the service stops listening, finishes what runs (10 s at most) and exits 0', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('%s', async (signal) => {
    stopOnSignalsWith(closed);
    const { port } = server.address() as AddressInfo;
    const running = request({ port, host: '127.0.0.1' });
    const cut = once(running, 'error');
    running.end();
    await once(server, 'request');

    process.emit(signal);
    process.emit(signal);
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
  });
});
