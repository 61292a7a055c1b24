import { NO_TERM } from '../../../../src/replication/store/term-life.js';
import { ALL, type AppShare } from '../../../../src/replication/protocol/index.js';
import type { WorkedThrough } from '../../../../src/replication/store/known-progress.js';
import { Jobs } from '../../../../src/replication/watcher/jobs.js';

type JobList = ConstructorParameters<typeof Jobs> extends [...infer J, WorkedThrough] ? J : never;

const job = (step: () => Promise<number>) => ({ name: 'A job', step });

/** Does two jobs; `noPass` answers as soon as no pass over everything is under way, nothing where the term is over. */
function jobsOf(
  first: () => Promise<number>,
  second: () => Promise<number>,
  noPass: () => Promise<AppShare | undefined>,
): Jobs {
  const idle = job(() => Promise.resolve(60_000));
  const list = [job(first), job(second), ...Array.from({ length: 9 }, () => idle)];
  return new Jobs(...(list as unknown as JobList), { noPass } as unknown as WorkedThrough);
}

it('trouble in one job is told, and stops neither the other nor the watcher', async () => {
  const over = new AbortController();
  let steps = 0;
  const fails = () => Promise.reject(new Error('no luck'));
  const goesOn = () => {
    steps += 1;
    if (steps === 3) over.abort();
    return Promise.resolve(0);
  };
  const jobs = jobsOf(fails, goesOn, () => Promise.resolve(over.signal.aborted ? undefined : ALL));
  const told = jest.spyOn(jobs['log'], 'error').mockReturnValue();
  await jobs.run(over.signal, NO_TERM);
  expect(steps).toBe(3);
  expect(told).toHaveBeenCalledTimes(1);
  expect(told).toHaveBeenCalledWith(
    expect.objectContaining({ err: expect.any(Error) }),
    'A job failed and is tried again soon',
  );
});

it('does nothing while a pass is under way', async () => {
  const over = new AbortController();
  const step = jest.fn(() => Promise.resolve(0));
  const noPass = () =>
    new Promise<undefined>((resolve) => over.signal.addEventListener('abort', () => resolve(undefined)));
  const running = jobsOf(step, step, noPass).run(over.signal, NO_TERM);
  over.abort();
  await running;
  expect(step).not.toHaveBeenCalled();
});
