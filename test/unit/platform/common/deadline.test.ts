import { DeadlineError, within } from '../../../../src/platform/common/index.js';

const never = new Promise<string>(() => undefined);

it('what comes in time is given, and its failure too', async () => {
  expect(await within(1000, 'The read', Promise.resolve('a'))).toBe('a');
  await expect(within(1000, 'The read', Promise.reject(new Error('b')))).rejects.toThrow('b');
});

it('what does not come is left behind, with a sentence that says what took how long', async () => {
  await expect(within(5, 'The read', never)).rejects.toThrow(DeadlineError);
  await expect(within(5, 'The read', never)).rejects.toThrow('The read took longer than 5 ms');
});
