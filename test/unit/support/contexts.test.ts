import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { setImmediate as turn } from 'node:timers/promises';

it('the asynchronous context of a test names it and its hooks as long as it runs, and nothing afterwards', async () => {
  // Every environment of this project has prepared the class.
  const storage = new AsyncLocalStorage<{ test: string; hook?: string }>();
  const named = () => storage.getStore()?.test;
  const looks: (() => string | undefined)[] = [];
  const look = () => looks.push(AsyncResource.bind(named));
  await storage.run({ test: 'T' }, async () => {
    await storage.run({ ...storage.getStore()!, hook: 'H' }, async () => void (await turn(look())));
    look();
    await turn();
    expect(looks.map((one) => one())).toEqual(['T', 'T']);
  });
  await turn();
  expect(looks.map((one) => one())).toEqual([undefined, undefined]);
});
