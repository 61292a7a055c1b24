import 'reflect-metadata';
import { createRequire } from 'node:module';
import { TestEnvironment } from 'jest-environment-node';

const require = createRequire(import.meta.url);

/**
 * Where contract tests run: the service itself is loaded by Node from `dist/`, once for each worker, as it is when it is
 * started, instead of by Jest for each file. What tests import of `src/` leads there (see transform.mjs).
 */
export default class extends TestEnvironment {
  async setup() {
    await super.setup();
    this.global.loadedByNode = (name) => require(name);
    // A Jest file has classes of its own, and a date of the service shall be a date to it.
    this.global.Date = Date;
  }
}
