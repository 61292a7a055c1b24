import { admin, pathOf } from '../api/client.js';
import type { ListedServices, Service, Tenant } from '../api/types.js';
import { useLoaded } from '../hooks/use-loaded.js';
import { useSession } from '../hooks/use-session.js';
import { Confirm } from '../parts/confirm.js';
import { many } from '../parts/format.js';
import { Link } from '../parts/link.js';
import { Loading } from '../parts/loading.js';
import { Page } from '../parts/page.js';
import { State } from '../parts/state.js';
import { Table } from '../parts/table.js';

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
  const { kinds } = useSession().who;
  const loaded = useServices(tenant);
  const { organizationid, appid } = tenant;
  return (
    <Page
      title={`Services of ${organizationid}/${appid}`}
      intro="A service is a filter with a name: what matches it is in its updates, all else in its soft deletes."
    >
      <Loading of={loaded} what="services">
        {({ result, leftOut }) => (
          <>
            {leftOut !== undefined && <LeftOut services={leftOut} />}
            <Table
              caption="Services"
              rows={result}
              nameOf={({ kind, name }) => `${kind}/${name}`}
              empty="There is no service yet. The service “default” is always there, and matches everything."
              columns={[
                { title: 'Service', cell: (one) => <Link to={placeOf(one)}>{one.name}</Link> },
                { title: 'Kind', cell: ({ kind }) => kind },
                { title: 'Filter', cell: ({ filter }) => <code>{JSON.stringify(filter)}</code> },
                { title: 'Description', cell: ({ description }) => description ?? '' },
                { title: 'State', cell: ({ enabled }) => <State word={enabled ? 'on' : 'off'} /> },
                { title: 'Actions', cell: (one) => <Remove service={one} onDone={loaded.reload} /> },
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
    </Page>
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
    <Confirm label="Remove" title={`Remove the service ${name}?`} action={`Remove ${name}`} work={remove}>
      <p>Its consumers get 404 until they ask for another one. No record is touched.</p>
    </Confirm>
  );
}
