import { AsyncLocalStorage } from 'node:async_hooks';

/** What is released with each context that is held. */
const releases = new WeakMap();

/**
 * Jest runs each test and hook in an asynchronous context that names it, and a socket or timer holds the context in which it was
 * made. A connection that outlives its file, such as one in the pool of the shared service, would keep the whole file in memory.
 * A worker with a hundred files in memory spends most of its time in garbage collection. So the context of a test that has ended
 * names nothing. That of a hook of a test ends with the test, so that Jest attributes a late error to it.
 */
export function releaseContexts() {
  const { run } = AsyncLocalStorage.prototype;
  AsyncLocalStorage.prototype.run = function (store, work, ...args) {
    if (!isOfJest(store)) return run.call(this, store, work, ...args);
    const { context, release } = releasable(store);
    const ofOuter = releases.get(this.getStore());
    const own = [release];
    releases.set(context, own);
    const result = run.call(this, context, work, ...args);
    const end = () => own.forEach((one) => one());
    if (ofOuter === undefined) Promise.resolve(result).then(end, end);
    else ofOuter.push(end);
    return result;
  };
}

/** Jest's contexts name a test, or a hook with its block. */
function isOfJest(store) {
  return typeof store === 'object' && store !== null && ('test' in store || 'hook' in store);
}

function releasable(store) {
  let held = store;
  const get = (name) => () => held?.[name];
  const names = Object.keys(store).map((name) => [name, { enumerable: true, get: get(name) }]);
  return {
    context: Object.defineProperties({}, Object.fromEntries(names)),
    release: () => (held = undefined),
  };
}
