import { type FormEvent, useState } from 'react';
import { admin, pathOf } from '../api/client.js';
import type { Application } from '../api/types.js';
import { useLoaded } from '../hooks/use-loaded.js';
import { useWork } from '../hooks/use-work.js';
import { Busy } from '../parts/busy.js';
import { Confirm } from '../parts/confirm.js';
import { Field } from '../parts/field.js';
import { Link } from '../parts/link.js';
import { Loading } from '../parts/loading.js';
import { Page } from '../parts/page.js';
import { Problem } from '../parts/problem.js';
import { Table } from '../parts/table.js';

/** The applications that the session covers. */
export function useApplications() {
  return useLoaded(
    'applications',
    async (signal) => (await admin<{ result: Application[] }>('applications', { signal })).body.result,
  );
}

export function Applications() {
  const loaded = useApplications();
  return (
    <Page title="Applications" intro="Each has its own records, services and consumers.">
      <Loading of={loaded} what="applications">
        {(applications) => (
          <Table
            caption="Applications"
            rows={applications}
            nameOf={({ organizationid, appid }) => `${organizationid}/${appid}`}
            empty="There is no application yet. Register the first one below."
            columns={[
              {
                title: 'Application',
                cell: ({ organizationid, appid }) => (
                  <Link to={`/applications/${pathOf(organizationid, appid)}`}>
                    {organizationid}/{appid}
                  </Link>
                ),
              },
              { title: 'Title', cell: ({ title }) => title ?? '' },
              {
                title: 'Password hashes',
                cell: ({ settings }) =>
                  settings?.replicatepasswordhash === true ? 'delivered' : 'not delivered',
              },
              { title: 'Actions', cell: (one) => <Remove application={one} onDone={loaded.reload} /> },
            ]}
          />
        )}
      </Loading>
      <Register onDone={loaded.reload} />
    </Page>
  );
}

function Remove({
  application: { organizationid, appid },
  onDone,
}: {
  application: Application;
  onDone: () => void;
}) {
  const name = `${organizationid}/${appid}`;
  const remove = async (signal: AbortSignal) => {
    await admin(`applications/${pathOf(organizationid, appid)}`, { method: 'DELETE', signal });
    onDone();
  };
  return (
    <Confirm
      label="Remove"
      title={`Remove ${name}?`}
      action={`Remove ${name}`}
      work={remove}
      onUncertain={onDone}
    >
      <p>
        Its services go with it, and its consumers get 404. One that still has records is not removed here:{' '}
        <code>application remove --purge</code> does that.
      </p>
    </Confirm>
  );
}

function Register({ onDone }: { onDone: () => void }) {
  const [organizationid, setOrganization] = useState('');
  const [appid, setApp] = useState('');
  const [title, setTitle] = useState('');
  const { isWorking, error, start, cancel } = useWork();
  const register = (event: FormEvent) => {
    event.preventDefault();
    void start(async (signal) => {
      const body = { organizationid, appid, ...(title !== '' && { title }) };
      await admin('applications', { method: 'POST', body, signal });
      setApp('');
      setTitle('');
      onDone();
    });
  };
  return (
    <section className="card">
      <h2>Register an application</h2>
      <form onSubmit={register} className="row">
        <Field label="Organization" value={organizationid} onChange={setOrganization} isRequired />
        <Field label="Application" value={appid} onChange={setApp} isRequired />
        <Field label="Title" value={title} onChange={setTitle} />
        <button className="main" disabled={isWorking}>
          Register
        </button>
      </form>
      <Problem error={error} />
      <Busy isBusy={isWorking} what="Registering" cancel={cancel} />
    </section>
  );
}
