import { complaintIn } from '../../../src/embedded/mongod-process.js';
import { Supervisor } from '../../../src/embedded/start-embedded.js';

/** A run of mongod that ends when the test says so. */
class Run {
  end!: (how: string) => void;
  stopped = false;
  readonly ended = new Promise<string>((resolve) => {
    this.end = resolve;
  });

  stop(): Promise<void> {
    this.stopped = true;
    this.end('code 0');
    return Promise.resolve();
  }
}

describe('the supervisor of mongod', () => {
  const runs: Run[] = [];
  const said: string[] = [];
  const lost: string[] = [];
  let startings: (() => Promise<Run>)[];
  let heard: () => void = () => undefined;

  const supervisor = () =>
    new Supervisor(
      async () => {
        const run = (await startings.shift()?.()) ?? new Run();
        runs.push(run);
        return run;
      },
      (line) => {
        said.push(line);
        heard();
      },
      (error) => {
        lost.push(error.message);
        heard();
      },
    );

  const hearing = (count: number) =>
    new Promise<void>((resolve) => {
      heard = () => said.length + lost.length >= count && resolve();
      heard();
    });

  beforeEach(() => {
    [runs, said, lost].forEach((list) => list.splice(0));
    startings = [];
  });

  it('starts it again when it ends, says so, and stops the one that runs then', async () => {
    const kept = supervisor();
    await kept.begin();
    runs[0]?.end('signal SIGKILL');
    await hearing(2);
    expect(said).toEqual([
      'mongod ended with signal SIGKILL; restarting mongod on the same data …',
      'mongod is back.',
    ]);
    await kept.stop();
    expect(runs.map((run) => run.stopped)).toEqual([false, true]);
    expect(said).toHaveLength(2);
  });

  it.each(['port taken', 'mongod ended with code 14'])(
    'tries again after a start that fails: %s',
    async (reason) => {
      const kept = supervisor();
      await kept.begin();
      startings = [() => Promise.reject(new Error(reason))];
      runs[0]?.end('code 14');
      await hearing(3);
      expect(said).toEqual([
        'mongod ended with code 14; restarting mongod on the same data …',
        `mongod did not start: ${reason}; restarting mongod on the same data …`,
        'mongod is back.',
      ]);
      await kept.stop();
      expect(lost).toEqual([]);
    },
  );

  it('gives it up when it ends again and again', async () => {
    const kept = supervisor();
    await kept.begin();
    for (let end = 1; end <= 5; end += 1) {
      runs.at(-1)?.end(`code ${end}`);
      await hearing(Math.min(2 * end, 9));
    }
    expect(lost).toHaveLength(1);
    expect(lost[0]).toMatch(
      /^mongod ended or failed to start 5 times within a minute\. The last failure: mongod ended with code 5\. /,
    );
    await kept.stop();
  });

  it('gives it up when it does not start again and again', async () => {
    const kept = supervisor();
    await kept.begin();
    startings = Array.from({ length: 4 }, () => () => Promise.reject(new Error('port taken')));
    runs[0]?.end('code 14');
    await hearing(5);
    expect(lost).toHaveLength(1);
    expect(lost[0]).toMatch(
      /^mongod ended or failed to start 5 times within a minute\. The last failure: mongod did not start: port taken\. /,
    );
    await kept.stop();
  });

  it('does not wait for a start that comes to no end when it is stopped', async () => {
    const kept = supervisor();
    await kept.begin();
    startings = [() => new Promise(() => undefined)];
    runs[0]?.end('signal SIGKILL');
    await hearing(1);
    jest.useFakeTimers();
    const stopped = kept.stop();
    await jest.advanceTimersByTimeAsync(60_000);
    jest.useRealTimers();
    await stopped;
    expect(lost).toEqual([]);
  });

  it('leaves a failure of the first start to its caller', async () => {
    startings = [() => Promise.reject(new Error('no space left'))];
    await expect(supervisor().begin()).rejects.toThrow('no space left');
    expect(said).toEqual([]);
  });
});

describe('the log of mongod', () => {
  it('gives the reason of a failure', () => {
    const line =
      '{"t":{},"s":"E","c":"CONTROL","id":20557,"msg":"DBException, terminating","attr":{"error":"DBPathInUse"}}';
    expect(complaintIn(line)).toBe('DBException, terminating: DBPathInUse');
    expect(complaintIn('{"s":"F","msg":"Fatal assertion","attr":{}}')).toBe('Fatal assertion');
    expect(complaintIn('{"s":"I","msg":"Waiting for connections"}')).toBeUndefined();
    expect(complaintIn('{"t":"cut","s":"E"')).toBeUndefined();
  });
});
