import { ChildProcess } from 'node:child_process';
import { Server, Socket } from 'node:net';
import { clearInterval, clearTimeout, setInterval, setTimeout } from 'node:timers';
import { setTimeout as wait } from 'node:timers/promises';

/** On a busy machine a connection that was told to close takes a while. */
const LOOKS = 200;
const LOOK_MS = 50;

/** What a test file opens and does not close, by the time its tests have ended. */
export class Leftovers {
  #timers = new Set();
  #before;
  #shared;

  /** With the file's global object, and what the worker's shared service owns. */
  constructor(global, shared) {
    this.#shared = shared;
    this.#before = new Set(this.#open());
    this.#follow(global);
  }

  /** In words; empty where all is closed, or closes within ten seconds. */
  async found() {
    for (let look = 0; look < LOOKS && this.#left().length > 0; look += 1) await wait(LOOK_MS);
    return this.#left().map(inWords);
  }

  #left() {
    const open = this.#open().filter((one) => !this.#before.has(one));
    return [...open, ...[...this.#timers].filter((timer) => timer.hasRef())];
  }

  #open() {
    const { clients } = this.#shared;
    const handles = process._getActiveHandles().filter((one) => this.#isOfInterest(one));
    return [...handles, ...clients].filter((one) => !this.#shared.owns(one));
  }

  #isOfInterest(handle) {
    if (handle instanceof Server || handle instanceof ChildProcess) return true;
    return handle instanceof Socket && handle.remotePort !== undefined && !this.#shared.talksTo(handle);
  }

  /** Timers of `node:timers` and of the service are not seen. */
  #follow(global) {
    const timers = this.#timers;
    global.setTimeout = (work, ms, ...args) => {
      const timer = setTimeout(() => {
        timers.delete(timer);
        work(...args);
      }, ms);
      timers.add(timer);
      return timer;
    };
    global.setInterval = (...args) => {
      const timer = setInterval(...args);
      timers.add(timer);
      return timer;
    };
    global.clearTimeout = global.clearInterval = (timer) => {
      timers.delete(timer);
      clearTimeout(timer);
      clearInterval(timer);
    };
  }
}

function inWords(one) {
  if (one instanceof Server) return `a server on ${JSON.stringify(one.address())}`;
  if (one instanceof ChildProcess) return `the process ${one.spawnargs?.join(' ')}`;
  if (one instanceof Socket) return `a connection to ${one.remoteAddress}:${one.remotePort}`;
  if (typeof one.hasRef === 'function') return 'a timer';
  return `a MongoDB client of ${one.s?.url ?? 'a database'}`;
}
