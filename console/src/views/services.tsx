import { useState } from 'react';
import { admin, pathOf } from '../api/client.js';
import type { ListedServices, Service, Tenant } from '../api/types.js';
import { FieldsSummary } from '../fields/fields-summary.js';
import { useLoaded } from '../hooks/use-loaded.js';
import { kindsOf, useSession } from '../hooks/use-session.js';
import { Confirm } from '../parts/confirm.js';
import { many } from '../parts/format.js';
import { Link } from '../parts/link.js';
import { Loading } from '../parts/loading.js';
import { Page } from '../parts/page.js';
import { State } from '../parts/state.js';
import { Table } from '../parts/table.js';
import { DEFAULT, hasFilter } from './service-draft.js';

/** The services of an application. */
export function useServices(tenant: Tenant | undefined) {
  const path = tenant && `applications/${pathOf(tenant.organizationid, tenant.appid)}/services`;
  return useLoaded(path, async (signal) => (await admin<ListedServices>(path!, { signal })).body);
}

/** Where a service is edited; without a name, a new one. */
export function placeOf({
  organizationid,
  appid,
  kind,
  name,
}: Pick<Service, 'kind' | 'name'> & Tenant): string {
  return `/applications/${pathOf(organizationid, appid, kind, name)}`;
}

export function Services(tenant: Tenant) {
  const kinds = kindsOf(useSession().who, tenant);
  const loaded = useServices(tenant);
  const { organizationid, appid } = tenant;
  return (
    <Page
      title={`Services of ${organizationid}/${appid}`}
      intro="A service is a filter with a name: what matches it is in its updates, all else in its soft deletes. It may leave out fields, or show their hash. The service “default” always exists."
    >
      <Loading of={loaded} what="services">
        {({ result, leftOut }) => (
          <>
            {leftOut !== undefined && <LeftOut services={leftOut} />}
            <Table
              caption="Services"
              rows={[
                ...kinds.map((kind) => defaultOf({ ...tenant, kind }, result)),
                ...result.filter(hasFilter),
              ]}
              nameOf={({ kind, name }) => `${kind}/${name}`}
              empty="There is no service."
              columns={[
                { title: 'Service', cell: (one) => <Link to={placeOf(one)}>{one.name}</Link> },
                { title: 'Kind', cell: ({ kind }) => kind },
                {
                  title: 'Filter',
                  cell: (one) =>
                    hasFilter(one) ? <code>{JSON.stringify(one.filter)}</code> : 'matches everything',
                },
                {
                  title: 'Fields',
                  cell: (one) =>
                    leftOut === undefined || result.includes(one) ? <FieldsSummary of={one} /> : 'unknown',
                },
                { title: 'Description', cell: ({ description }) => description ?? '' },
                { title: 'State', cell: ({ enabled }) => <State word={enabled ? 'on' : 'off'} /> },
                {
                  title: 'Actions',
                  cell: (one) => result.includes(one) && <Remove service={one} onDone={loaded.reload} />,
                },
              ]}
            />
          </>
        )}
      </Loading>
      <p className="buttons">
        {kinds.map((kind) => (
          <Link key={kind} to={`/applications/${pathOf(organizationid, appid, kind)}`}>
            New {kind} service
          </Link>
        ))}
      </p>
      <HashKey {...tenant} />
    </Page>
  );
}

/** The stored `default` of a kind, or the one that shows everything. */
function defaultOf(of: Tenant & { kind: string }, stored: Service[]): Service {
  const found = stored.find(({ kind, name }) => kind === of.kind && name === DEFAULT);
  return found ?? { ...of, name: DEFAULT, filter: {}, enabled: true };
}

/** Replaces the key of the application's hashes. */
function HashKey({ organizationid, appid }: Tenant) {
  const [isDone, setIsDone] = useState(false);
  const rotate = async (signal: AbortSignal) => {
    const path = `applications/${pathOf(organizationid, appid)}/hashkey/rotate`;
    await admin(path, { method: 'POST', signal });
    setIsDone(true);
  };
  return (
    <section className="card">
      <h2>Hash key</h2>
      <p>Hashed fields use a key of this application, which is never shown.</p>
      <Confirm
        label="Rotate the key…"
        title={`Rotate the hash key of ${organizationid}/${appid}?`}
        action="Rotate the key"
        work={rotate}
      >
        <p>
          Hashed values will be delivered again under a new hash. Copies that hold the old hashes cannot be
          joined with newer ones.
        </p>
      </Confirm>
      <p role="status">{isDone && 'The key was rotated. Hashed values will be delivered again.'}</p>
    </section>
  );
}

function LeftOut({ services }: { services: number }) {
  const are = services === 1 ? 'is' : 'are';
  return (
    <p role="status" className="notice">
      {many(services, 'more service')} {are} not listed. The application has more services, or larger ones,
      than are allowed; the last ones are not served. Remove some.
    </p>
  );
}

function Remove({ service, onDone }: { service: Service; onDone: () => void }) {
  const { organizationid, appid, kind, name } = service;
  const remove = async (signal: AbortSignal) => {
    const path = `applications/${pathOf(organizationid, appid)}/services/${pathOf(kind, name)}`;
    await admin(path, { method: 'DELETE', signal });
    onDone();
  };
  return (
    <Confirm
      label="Remove"
      title={`Remove the service ${name}?`}
      action={`Remove ${name}`}
      work={remove}
      onUncertain={onDone}
    >
      {hasFilter(service) ? (
        <p>Its consumers get 404 until they ask for another one. No record is touched.</p>
      ) : (
        <p>It then shows all fields. Records with a field that it hides or hashes now are delivered again.</p>
      )}
    </Confirm>
  );
}
