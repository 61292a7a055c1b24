import { NO_TERM } from '../../../../../src/replication/store/index.js';
import { StreamWork, type Term } from '../../../../../src/replication/watcher/term/stream-work.js';

/** The work of a term whose writes of the lease are applied or refused. */
function work(isOver = false): Pick<StreamWork, 'save'> {
  const lease = { save: () => Promise.resolve(!isOver) };
  const kindPasses = { assertWell: () => undefined };
  const parts = { lease, kindPasses };
  return Object.assign(Object.create(StreamWork.prototype) as object, parts) as unknown as StreamWork;
}

const ASIDE = [{ organizationid: 'acme', appid: 'shop' }];
const termOf = () => ({ ...NO_TERM, state: { term: 1, aside: ASIDE } }) as unknown as Term;

it('a term knows which applications are aside: one whose first pass has ended in it was passed over', async () => {
  const term = termOf();
  await work().save(term, {});
  expect(term.state.aside).toEqual(ASIDE);
  await work().save(term, { aside: [] });
  expect(term.state.aside).toEqual([]);
});

it('what is refused, because another instance leads, is not known', async () => {
  const term = termOf();
  await expect(work(true).save(term, { aside: [] })).rejects.toThrow('Another instance leads now');
  expect(term.state.aside).toEqual(ASIDE);
});
