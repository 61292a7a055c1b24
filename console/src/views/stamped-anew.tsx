import { admin, pathOf } from '../api/client.js';
import type { RecordHistory, RecordStory, Restamp } from '../api/types.js';
import { useLoaded } from '../hooks/use-loaded.js';
import { many } from '../parts/format.js';
import { Loading } from '../parts/loading.js';
import { type Column, Table } from '../parts/table.js';
import { Time } from '../parts/time.js';

const COLUMNS: Column<Restamp>[] = [
  {
    title: 'When',
    cell: ({ at }) => (
      <span>
        <Time at={at} />, <span className="whole">{at}</span>
      </span>
    ),
  },
  { title: 'What', cell: ({ what }) => what },
  { title: 'Reason', cell: ({ reason }) => reason },
  { title: 'Why', cell: ({ meaning }) => meaning },
];

/** When and why a record was stamped anew, so that consumers received it again. */
export function StampedAnew({ story: { organizationid, appid, kind, id } }: { story: RecordStory }) {
  const path = `applications/${pathOf(organizationid, appid)}/records/${pathOf(kind, id)}/history`;
  const loaded = useLoaded(path, async (signal) => (await admin<RecordHistory>(path, { signal })).body);
  return (
    <>
      <h3>Stamped anew</h3>
      <Loading of={loaded} what="its re-stamps">
        {({ restamps, gaps, keptDays }) => (
          <>
            <Table
              caption={`Re-stamps of ${kind} ${id}`}
              rows={restamps}
              nameOf={({ at, what, meaning }) => `${at} ${what} ${meaning}`}
              empty={noneFor(keptDays)}
              columns={COLUMNS}
            />
            {gaps.length > 0 && (
              <ul>
                {gaps.map(({ from, until, reason }) => (
                  <li key={`${from} ${reason}`}>
                    From {from} to {until} not every re-stamp “{reason}” was noted: there were too many.
                  </li>
                ))}
              </ul>
            )}
          </>
        )}
      </Loading>
    </>
  );
}

function noneFor(keptDays: number): string {
  if (keptDays === 0) return 'None is noted: RESTAMP_HISTORY_DAYS is 0.';
  return `None is noted in the last ${many(keptDays, 'day')}.`;
}
