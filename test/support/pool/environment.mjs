import 'reflect-metadata';
import { createRequire } from 'node:module';
import { TestEnvironment } from 'jest-environment-node';
import { releaseContexts } from './contexts.mjs';
import { Leftovers } from './leftovers.mjs';
import { followClients, SharedService, sharedByWorker } from './shared.mjs';

const require = createRequire(import.meta.url);

releaseContexts();

/**
 * Where tests run. A file that leaves a server, a process, a socket or a timer open fails, and the message names what it is.
 *
 * With `{ built: true }` the service itself is loaded by Node from `dist/`, once for each worker, as it is when it is started,
 * instead of by Jest for each file. What tests import of `src/` leads there (see built/transform.mjs). Such a file may use the
 * service that the files of a worker share, and has a replica set: the worker's. With `mongod` both are the file's own, on the
 * replica set of that version.
 */
export default class extends TestEnvironment {
  #built;
  #mongod;
  #shared;
  #leftovers;
  #hasFailed = false;

  constructor(config, context) {
    super(config, context);
    ({ built: this.#built = false, mongod: this.#mongod } = config.projectConfig.testEnvironmentOptions);
    this.#shared = this.#mongod === undefined ? sharedByWorker : new SharedService();
  }

  async setup() {
    await super.setup();
    this.global.loadedByNode = (name) => require(name);
    // A Jest file has classes of its own, and a date of what Node has loaded shall be a date to it.
    this.global.Date = Date;
    if (this.#built) this.#giveService();
    this.#leftovers = new Leftovers(this.global, sharedByWorker);
  }

  #giveService() {
    this.global.sharedService = this.#shared;
    followClients(require('mongoose').mongo);
    this.#giveDatabase(this.global.process.env);
  }

  /** The file's `process.env` is a copy of the worker's. */
  #giveDatabase(env) {
    if (this.#mongod !== undefined) {
      env.TIDEMARK_TEST_MONGOD = this.#mongod;
      env.TIDEMARK_TEST_MONGODB_URI = env.TIDEMARK_TEST_OLDER_MONGODB_URI;
    } else if (env.TIDEMARK_TEST_MONGODB_URIS !== undefined) {
      const uris = env.TIDEMARK_TEST_MONGODB_URIS.split(' ');
      const { JEST_WORKER_ID: worker = '1' } = env;
      env.TIDEMARK_TEST_MONGODB_URI = uris[(Number(worker) - 1) % uris.length];
    }
  }

  /** A test that failed may not have come to where it closes things. */
  handleTestEvent({ name, test }) {
    if (name === 'test_done') this.#hasFailed ||= test.errors.length > 0;
  }

  async teardown() {
    if (this.#shared !== sharedByWorker) await this.#shared.end();
    if (this.#built) forgetClosed(require('mongoose'));
    const left = await this.#leftovers.found();
    await super.teardown();
    if (left.length > 0 && !this.#hasFailed)
      throw new Error(`When its tests had ended, this file left open: ${left.join(', ')}.`);
  }
}

/** Mongoose keeps each connection that it has made, with all that has listened to it. */
function forgetClosed({ connection, connections, ConnectionStates }) {
  const left = connections.filter(
    (one) => one === connection || one.readyState !== ConnectionStates.disconnected,
  );
  connections.splice(0, connections.length, ...left);
}
