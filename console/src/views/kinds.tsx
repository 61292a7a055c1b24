import { type FormEvent, useState } from 'react';
import { admin, pathOf, ServiceError } from '../api/client.js';
import type { Kind } from '../api/types.js';
import { useLoaded } from '../hooks/use-loaded.js';
import { useSession } from '../hooks/use-session.js';
import { useWork } from '../hooks/use-work.js';
import { Busy } from '../parts/busy.js';
import { Confirm } from '../parts/confirm.js';
import { Check, Field } from '../parts/field.js';
import { Loading } from '../parts/loading.js';
import { Page } from '../parts/page.js';
import { Problem } from '../parts/problem.js';
import { State } from '../parts/state.js';
import { Table } from '../parts/table.js';

const EVERY_MS = 2000;

export function Kinds() {
  const { renew } = useSession();
  const loaded = useLoaded(
    'kinds',
    async (signal, isPoll) => (await admin<{ result: Kind[] }>('kinds', { signal, isPoll })).body.result,
    EVERY_MS,
  );
  const onChange = () => {
    loaded.reload();
    renew();
  };
  return (
    <Page title="Kinds" intro="Each serves the records of one collection, in feeds of its own.">
      <Loading of={loaded} what="kinds">
        {(kinds) => (
          <Table
            caption="Kinds"
            rows={kinds}
            nameOf={({ name }) => name}
            empty="There is no kind."
            columns={[
              { title: 'Kind', cell: ({ name }) => name },
              { title: 'Collection', cell: ({ collection }) => <code>{collection}</code> },
              { title: 'State', cell: (kind) => <Standing of={kind} /> },
              { title: 'Records', cell: shapeOf },
              {
                title: 'Actions',
                cell: (kind) => (kind.isBuiltIn ? 'built in' : <Remove kind={kind} onDone={onChange} />),
              },
            ]}
          />
        )}
      </Loading>
      <Create onDone={onChange} />
    </Page>
  );
}

function Standing({ of: { state, share, fault } }: { of: Kind }) {
  const more = fault ?? (share === null ? '' : `${Math.floor(share * 100)} % of its records are read`);
  return (
    <>
      <State word={state} /> {more}
    </>
  );
}

/** How the collection stores the records, as far as that is unusual. */
function shapeOf({ id, lastupdated, organizationid, appid, data }: Kind): string {
  return [
    ...(organizationid === undefined ? [] : [`all of ${organizationid}/${appid}`]),
    ...(id === 'id' ? [] : [`id in ${id}`]),
    ...(lastupdated === 'lastupdated' ? [] : [`stamp in ${lastupdated}`]),
    ...(data ? [] : ['without data']),
  ].join(', ');
}

function Remove({ kind: { name }, onDone }: { kind: Kind; onDone: () => void }) {
  const [isPurged, setIsPurged] = useState(false);
  const remove = async (signal: AbortSignal) => {
    await admin(`kinds/${pathOf(name)}${isPurged ? '?purge=true' : ''}`, { method: 'DELETE', signal });
    onDone();
  };
  return (
    <Confirm
      label="Remove"
      title={`Remove the kind ${name}?`}
      action={`Remove ${name}`}
      work={remove}
      onUncertain={onDone}
    >
      <p>Its feeds answer 404. Its records stay: if the kind is created again, they are delivered again.</p>
      <Check
        label="With its services and consumers"
        value={isPurged}
        onChange={setIsPurged}
        hint="Needed if the kind has services, or if consumers have read it."
      />
    </Confirm>
  );
}

const TEXTS = [
  ['name', 'Name', 'as in the paths, such as order'],
  ['collection', 'Collection', 'such as orders'],
  ['plural', 'Plural', 'or the name with an s'],
  ['id', 'Field of the id', 'or id'],
  ['lastupdated', 'Field of the stamp', 'or lastupdated'],
  ['organizationid', 'Organization', 'if the records name none'],
  ['appid', 'Application', 'if the records name none'],
] as const;
const NOTHING = Object.fromEntries(TEXTS.map(([field]) => [field, '']));

function Create({ onDone }: { onDone: () => void }) {
  const [texts, setTexts] = useState<Record<string, string>>(NOTHING);
  const [hasChannels, setHasChannels] = useState(false);
  const [hasData, setHasData] = useState(true);
  const { isWorking, error, start, cancel } = useWork();
  const faults = faultsOf(error);
  const create = (event: FormEvent) => {
    event.preventDefault();
    void start(async (signal) => {
      const given = Object.entries(texts).filter(([, value]) => value !== '');
      const body = {
        ...Object.fromEntries(given),
        ...(hasChannels && { channels: true }),
        ...(!hasData && { data: false }),
      };
      await admin('kinds', { method: 'POST', body, signal });
      setTexts(NOTHING);
      setHasChannels(false);
      setHasData(true);
      onDone();
    });
  };
  return (
    <section className="card">
      <h2>Create a kind</h2>
      <form onSubmit={create}>
        <div className="row">
          {TEXTS.map(([field, label, hint]) => (
            <Field
              key={field}
              label={label}
              hint={hint}
              value={texts[field] ?? ''}
              fault={faults.get(`/${field}`)}
              isRequired={field === 'name' || field === 'collection'}
              onChange={(value) => setTexts((before) => ({ ...before, [field]: value }))}
            />
          ))}
        </div>
        <Check
          label="The field channels holds the channels of a record"
          value={hasChannels}
          onChange={setHasChannels}
        />
        <Check
          label="The records have a field data"
          value={hasData}
          onChange={setHasData}
          hint="without it, all other fields are the data"
        />
        <button className="main" disabled={isWorking}>
          Create
        </button>
      </form>
      {faults.size === 0 && <Problem error={error} />}
      <Busy isBusy={isWorking} what="Creating" cancel={cancel} />
    </section>
  );
}

/** What the service finds wrong, by the place in the body; empty if it concerns no field. */
function faultsOf(error: unknown): Map<string, string> {
  if (!(error instanceof ServiceError)) return new Map();
  const placed = error.errors.filter(({ pointer }) => pointer !== undefined);
  return new Map(placed.map(({ pointer = '', detail }) => [pointer, detail]));
}
