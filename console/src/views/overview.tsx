import { useEffect, useState } from 'react';
import { admin } from '../api/client.js';
import { type Consumer, type Figures, STATES } from '../api/types.js';
import { useLoaded } from '../hooks/use-loaded.js';
import { useSession } from '../hooks/use-session.js';
import { Chart } from '../parts/chart.js';
import { count, duration, many } from '../parts/format.js';
import { Link } from '../parts/link.js';
import { Loading } from '../parts/loading.js';
import { Page } from '../parts/page.js';
import { Problem } from '../parts/problem.js';
import { State } from '../parts/state.js';
import { gaugeOf, instancesIn, kept, rateOf } from './figures.js';

const FIGURES_MS = 2000;
const CONSUMERS_MS = 10_000;

export function Overview() {
  const { who } = useSession();
  return (
    <Page title="Overview" intro="How the service and its consumers do.">
      <ConsumersAtAGlance />
      {who.coversAll ? (
        <Charts />
      ) : (
        <p className="faint">How the whole service does is shown to administrators of every application.</p>
      )}
    </Page>
  );
}

function ConsumersAtAGlance() {
  const loaded = useLoaded(
    'consumers',
    async (signal, isPoll) =>
      (await admin<{ result: Consumer[] }>('consumers', { signal, isPoll })).body.result,
    CONSUMERS_MS,
  );
  return (
    <section aria-label="Consumers">
      <Loading of={loaded} what="consumers">
        {(consumers) =>
          consumers.length === 0 ? (
            <p className="empty">
              No consumer has called yet. <Link to="/explorer">Try a feed</Link> to see what they get.
            </p>
          ) : (
            <ul className="tiles">
              {STATES.map((state) => ({ state, of: consumers.filter((one) => one.state === state) }))
                .filter(({ of }) => of.length > 0)
                .map(({ state, of }) => (
                  <li key={state}>
                    <Link to={`/consumers?state=${encodeURIComponent(state)}`}>
                      <span className="big">{count(of.length)}</span> <State word={state} />
                    </Link>
                  </li>
                ))}
            </ul>
          )
        }
      </Loading>
    </section>
  );
}

/** The lines grow while the page is open. */
function Charts() {
  const { data, error, isLoading } = useLoaded(
    'figures',
    async (signal, isPoll) => (await admin<Figures>('figures', { signal, isPoll })).body,
    FIGURES_MS,
  );
  const [points, setPoints] = useState<Figures[]>([]);
  useEffect(() => {
    if (data !== undefined) setPoints((before) => kept(before, data));
  }, [data]);
  const now = points.at(-1);
  const each = (words: string) => (value: number) => `${count(Math.round(value * 10) / 10)}${words}`;
  return (
    <section aria-label="The service" aria-busy={isLoading && now === undefined}>
      <Problem error={error} />
      {typeof now?.passDone === 'number' && (
        <p className="notice">
          A pass over all records is under way. <progress value={now.passDone} aria-label="Pass" />{' '}
          {Math.round(now.passDone * 100)} %. <Link to="/watcher">More</Link>
        </p>
      )}
      {(now?.quarantined ?? 0) > 0 && (
        <p className="problem">
          {many(now!.quarantined!, 'event')} could not be worked through. <Link to="/watcher">See which</Link>
        </p>
      )}
      {now !== undefined && (
        <p className="faint">
          Requests and items are those of {instancesIn(points).join(', ')}, which answered this page in the
          last minute. The other figures are of all instances.
        </p>
      )}
      <div className="charts">
        <Chart title="Requests a second" line={rateOf(points, 'requests')} show={each('')} />
        <Chart title="Items a second" line={rateOf(points, 'items')} show={each('')} />
        <Chart title="Watcher behind" line={gaugeOf(points, 'lagSeconds')} show={duration} />
        <Chart title="Re-stamps a second" line={rateOf(points, 'restamps')} show={each('')} />
        <Chart title="Tombstones a second" line={rateOf(points, 'tombstones')} show={each('')} />
        <Chart title="Oplog window" line={gaugeOf(points, 'oplogWindowSeconds')} show={duration} />
        <Chart title="Quarantined" line={gaugeOf(points, 'quarantined')} show={each('')} />
      </div>
    </section>
  );
}
