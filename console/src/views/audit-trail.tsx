import { useState } from 'react';
import { admin } from '../api/client.js';
import type { Deed } from '../api/types.js';
import { useWork } from '../hooks/use-work.js';
import { useLoaded } from '../hooks/use-loaded.js';
import { Busy } from '../parts/busy.js';
import { Loading } from '../parts/loading.js';
import { Page } from '../parts/page.js';
import { Problem } from '../parts/problem.js';
import { type Column, Table } from '../parts/table.js';
import { Time } from '../parts/time.js';

interface TrailPage {
  result: Deed[];
  /** Names the page behind it; empty on the last one. */
  next: string;
}

const COLUMNS: Column<Deed>[] = [
  { title: 'When', cell: ({ at }) => <Time at={at} /> },
  { title: 'Who', cell: ({ who }) => who },
  { title: 'What', cell: ({ action }) => action },
  { title: 'To what', cell: ({ target }) => target },
  {
    title: 'Application',
    cell: ({ organizationid, appid }) => [organizationid, appid].filter(Boolean).join('/'),
  },
  { title: 'Changed', cell: ({ changed = [] }) => changed.join(', ') },
  { title: 'From', cell: ({ via, from }) => `${via}, ${from}` },
];

const page = async (next: string, signal: AbortSignal): Promise<TrailPage> =>
  (await admin<TrailPage>(`audittrail?limit=100&before=${encodeURIComponent(next)}`, { signal })).body;

/** Who changed what, the newest first. */
export function AuditTrail() {
  const first = useLoaded('audittrail', (signal) => page('', signal));
  const [older, setOlder] = useState<TrailPage[]>([]);
  const { isWorking, error, start, cancel } = useWork();
  return (
    <Page title="Audit trail" intro="Who changed what, the newest first. Never a secret or a value.">
      <Loading of={first} what="the audit trail">
        {(newest) => {
          const next = (older.at(-1) ?? newest).next;
          const more = (signal: AbortSignal) =>
            page(next, signal).then((found) => setOlder((before) => [...before, found]));
          return (
            <>
              <Table
                caption="Audit trail"
                rows={[newest, ...older].flatMap(({ result }) => result)}
                nameOf={({ _id }) => _id}
                empty="Nothing was changed yet."
                columns={COLUMNS}
              />
              <Problem error={error} />
              <Busy isBusy={isWorking} what="Loading older ones" cancel={cancel} />
              {next !== '' && (
                <button disabled={isWorking} onClick={() => void start(more)}>
                  Older
                </button>
              )}
            </>
          );
        }}
      </Loading>
    </Page>
  );
}
