import { reportDatabase } from '../../src/start.js';

const never = new Promise<void>(() => undefined);
const refused = 'the connection is refused';
const database = { answered: never, done: never, failure: refused, trouble: refused, hosts: 'db1:27017' };

afterEach(() => jest.useRealTimers());

/** What is said of a database, by the time at which the start goes on. */
async function said(preparation: Parameters<typeof reportDatabase>[0]): Promise<string[]> {
  const lines: string[] = [];
  await reportDatabase(preparation, (line) => lines.push(line));
  return lines;
}

describe('a database that leads nowhere is told of before the service says that it listens', () => {
  it('with where it should be and why it does not answer, and then when it does', async () => {
    jest.useFakeTimers();
    let answer = () => undefined as void;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    const lines = said({ ...database, answered });
    jest.advanceTimersByTime(1000);
    const told = await lines;
    expect(told).toEqual([
      'The database at db1:27017 does not answer (MONGODB_URI): the connection is refused. ' +
        'Waiting for it; requests are answered 503 meanwhile.',
    ]);
    answer();
    await answered;
    expect(told.at(-1)).toBe('The database answers.');
  });

  it('one that is only slow is given three seconds', async () => {
    jest.useFakeTimers();
    const slow = { ...database, failure: undefined, trouble: 'no response was received' };
    let answer = () => undefined as void;
    const lines = said({ ...slow, answered: new Promise<void>((resolve) => (answer = resolve)) });
    await jest.advanceTimersByTimeAsync(2999);
    answer();
    expect(await lines).toEqual([]);
    const late = said(slow);
    await jest.advanceTimersByTimeAsync(3000);
    expect(await late).toEqual([expect.stringContaining('no response was received')]);
  });

  it('one that answers in time is not', async () => {
    expect(await said({ ...database, answered: Promise.resolve() })).toEqual([]);
  });

  it('one that ends the start does so without another word', async () => {
    await expect(said({ ...database, done: Promise.reject(new Error('stand-alone')) })).rejects.toThrow(
      'stand-alone',
    );
  });
});
