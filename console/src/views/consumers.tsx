import { admin, pathOf } from '../api/client.js';
import { type Consumer, STATES } from '../api/types.js';
import { useLoaded } from '../hooks/use-loaded.js';
import { goTo, useRoute } from '../hooks/use-route.js';
import { Choice } from '../parts/field.js';
import { count, duration } from '../parts/format.js';
import { Link } from '../parts/link.js';
import { Loading } from '../parts/loading.js';
import { Page } from '../parts/page.js';
import { State } from '../parts/state.js';
import { type Column, Table } from '../parts/table.js';
import { Time } from '../parts/time.js';
import { SCHEMA_WORDS } from './schema-section.js';

const EVERY_MS = 10_000;
const ALL = 'all';
/** So many records behind are counted at most. */
const MOST_COUNTED = 10_000;

const COLUMNS: Column<Consumer>[] = [
  { title: 'Consumer', cell: ({ username }) => username },
  {
    title: 'Reads',
    cell: ({ organizationid, appid, kind, service }) => `${organizationid}/${appid} ${kind} ${service}`,
  },
  { title: 'State', cell: ({ state }) => <State word={state} /> },
  {
    title: 'Behind',
    isNumber: true,
    cell: ({ behindSeconds }) => (behindSeconds === null ? 'all' : duration(behindSeconds)),
  },
  {
    title: 'Records behind',
    isNumber: true,
    cell: ({ behindRecords }) =>
      behindRecords === null
        ? 'not known'
        : `${count(behindRecords)}${behindRecords === MOST_COUNTED ? ' or more' : ''}`,
  },
  { title: 'Last call', cell: ({ lastCall }) => <Time at={lastCall} /> },
  { title: 'Last harvest ended', cell: ({ lastEnded }) => <Time at={lastEnded} /> },
  { title: 'Items', isNumber: true, cell: ({ items }) => count(items) },
  {
    title: 'Schema',
    cell: ({ organizationid, appid, kind, service, schemaChange }) =>
      schemaChange === null ? (
        ''
      ) : (
        <>
          <Link to={`/applications/${pathOf(organizationid, appid, kind, service)}`}>
            <code>{schemaChange.path}</code>
          </Link>{' '}
          {SCHEMA_WORDS[schemaChange.change] ?? schemaChange.change} <Time at={schemaChange.at} />
        </>
      ),
  },
  {
    title: 'Last error',
    cell: ({ lastError }) =>
      lastError === null ? (
        ''
      ) : (
        <>
          {lastError.status} {lastError.feed} <Time at={lastError.at} />
        </>
      ),
  },
];

/** Who reads what, those furthest behind first. */
export function Consumers() {
  const { query } = useRoute();
  const wanted = (query.get('state') ?? ALL) as Consumer['state'] | typeof ALL;
  const loaded = useLoaded(
    'consumers',
    async (signal, isPoll) =>
      (await admin<{ result: Consumer[] }>('consumers', { signal, isPoll })).body.result,
    EVERY_MS,
  );
  return (
    <Page
      title="Consumers"
      intro="The consumers with the greatest lag come first. Their activity is visible within ten seconds."
    >
      <Choice
        label="State"
        value={wanted}
        choices={[ALL, ...STATES]}
        onChange={(state) =>
          goTo(state === ALL ? '/consumers' : `/consumers?state=${encodeURIComponent(state)}`)
        }
      />
      <Loading of={loaded} what="consumers">
        {(consumers) => (
          <Table
            caption="Consumers"
            rows={consumers.filter(({ state }) => wanted === ALL || state === wanted)}
            nameOf={({ organizationid, appid, username, kind, service }) =>
              JSON.stringify([organizationid, appid, username, kind, service])
            }
            empty="No consumer is here."
            columns={COLUMNS}
          />
        )}
      </Loading>
    </Page>
  );
}
