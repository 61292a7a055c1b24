import { SharedReads } from '../../../../src/platform/common/index.js';

/** A read that ends when the test says so. */
interface Running {
  end: (value: string) => void;
  fail: (error: Error) => void;
}

let reads: SharedReads<string>;
/** The reads that have begun, in this order. */
let begun: Running[];
beforeEach(() => {
  reads = new SharedReads();
  begun = [];
});

const ask = (key = 'key') => {
  const asked = reads.share(
    key,
    () => new Promise((resolve, reject) => begun.push({ end: resolve, fail: reject })),
  );
  asked.catch(() => undefined);
  return asked;
};

/** Ends the read that began as this one, counted from 0. */
const end = (index: number, value: string) => begun[index]?.end(value);

/** Lets everything happen that waits for nothing but its turn. */
const settled = () => new Promise(setImmediate);

/** No read is left waiting behind its test. */
afterEach(async () => {
  for (const { end } of begun) {
    end('over');
    await settled();
  }
});

describe('callers share a read that has not begun yet', () => {
  it('the first read begins at once', async () => {
    const first = ask();
    expect(begun).toHaveLength(1);
    end(0, 'a');
    expect(await first).toBe('a');
  });

  it('all who come while it is in flight share the next, which begins when it is over', async () => {
    const first = ask();
    const later = [ask(), ask(), ask()];
    await settled();
    expect(begun).toHaveLength(1);
    end(0, 'a');
    expect(await first).toBe('a');
    await settled();
    expect(begun).toHaveLength(2);
    end(1, 'b');
    expect(await Promise.all(later)).toEqual(['b', 'b', 'b']);
    expect(begun).toHaveLength(2);
  });

  it('and so on: nobody is put off twice', async () => {
    void ask();
    const second = ask();
    end(0, 'a');
    await settled();
    const third = ask();
    end(1, 'b');
    expect(await second).toBe('b');
    await settled();
    end(2, 'c');
    expect(await third).toBe('c');
  });

  it('one read of a key is in flight at a time, whenever callers come', async () => {
    void ask();
    void ask();
    end(0, 'a');
    for (let turn = 0; turn < 10; turn += 1) {
      await Promise.resolve();
      void ask();
    }
    await settled();
    expect(begun).toHaveLength(2);
  });

  it('other keys are other reads', async () => {
    const answers = [ask('one'), ask('other')];
    expect(begun).toHaveLength(2);
    end(1, 'of the other');
    end(0, 'of the one');
    expect(await Promise.all(answers)).toEqual(['of the one', 'of the other']);
  });
});

describe('what a caller gets is as fresh as a read of its own', () => {
  it('the read began after the call, whenever that came', async () => {
    let clock = 0;
    const tick = () => (clock += 1);
    const read = async () => {
      const startedAt = tick();
      await settled();
      return startedAt;
    };
    const times = new SharedReads<number>();
    const callers = Array.from({ length: 200 }, async (_, index) => {
      for (let turn = 0; turn < index % 7; turn += 1) await Promise.resolve();
      if (index % 3 === 0) await settled();
      const calledAt = tick();
      expect(await times.share('key', read)).toBeGreaterThan(calledAt);
    });
    await Promise.all(callers);
    expect(times.size).toBe(0);
  });

  it('in the moment in which a read ends, too', async () => {
    const first = ask();
    const second = first.then(() => ask());
    end(0, 'old');
    await settled();
    end(1, 'new');
    expect(await second).toBe('new');
  });
});

describe('errors', () => {
  it('go to all who share the read, and are not remembered', async () => {
    const first = ask();
    const sharers = [ask(), ask()];
    begun[0]?.fail(new Error('away'));
    await expect(first).rejects.toThrow('away');
    await settled();
    begun[1]?.fail(new Error('still away'));
    for (const sharer of sharers) await expect(sharer).rejects.toThrow('still away');
    const after = ask();
    end(2, 'back');
    expect(await after).toBe('back');
  });

  it('of a read that fails before it waits for anything', async () => {
    const broken = () => {
      throw new Error('no connection');
    };
    await expect(reads.share('key', broken)).rejects.toThrow('no connection');
    expect(reads.size).toBe(0);
  });
});

it('a key is forgotten as soon as nobody reads it', async () => {
  const answers = [ask('one'), ask('one'), ask('other')];
  expect(reads.size).toBe(2);
  end(1, 'of the other');
  await answers[2];
  expect(reads.size).toBe(1);
  end(0, 'a');
  await settled();
  end(2, 'b');
  await Promise.all(answers);
  expect(reads.size).toBe(0);
});

describe('a read that hangs', () => {
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate'] }));
  afterEach(() => void jest.useRealTimers());

  it('holds up those who come after it for a second at most', async () => {
    const hanging = ask();
    const next = ask();
    await jest.advanceTimersByTimeAsync(999);
    expect(begun).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(1);
    expect(begun).toHaveLength(2);
    end(1, 'b');
    expect(await next).toBe('b');
    end(0, 'late');
    expect(await hanging).toBe('late');
    expect(reads.size).toBe(0);
  });

  it('is waited for no longer than eight seconds, by nobody', async () => {
    const waiting = Promise.allSettled([ask(), ask(), ask()]);
    await jest.advanceTimersByTimeAsync(9000);
    for (const outcome of await waiting)
      expect(outcome).toMatchObject({ reason: { message: 'A read took longer than 8000 ms' } });
    expect([begun.length, reads.size]).toEqual([2, 0]);
  });

  it('does not end the turn of the one that came after it', async () => {
    void ask();
    void ask();
    await jest.advanceTimersByTimeAsync(1000);
    end(0, 'late');
    const third = ask();
    await settled();
    expect(begun).toHaveLength(2);
    end(1, 'b');
    await settled();
    end(2, 'c');
    expect(await third).toBe('c');
    expect(reads.size).toBe(0);
  });

  it('leaves no timer behind once it is over', async () => {
    const first = ask();
    end(0, 'a');
    await first;
    expect(jest.getTimerCount()).toBe(0);
  });
});
