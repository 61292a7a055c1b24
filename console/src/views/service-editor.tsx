import { admin, pathOf, ServiceError } from '../api/client.js';
import type { Service, Tenant } from '../api/types.js';
import { useLoaded } from '../hooks/use-loaded.js';
import { Link } from '../parts/link.js';
import { Loading } from '../parts/loading.js';
import { Page } from '../parts/page.js';
import { DEFAULT, type Version } from './service-draft.js';
import { SchemaSection } from './schema-section.js';
import { ServiceForm } from './service-form.js';

interface Place extends Tenant {
  kind: string;
  /** Nothing for a new one. */
  name: string | undefined;
}

const NEW_FILTER = { 'data.category': 'bikes' };

let readings = 0;

/** A service with its filter and its fields, and what they would do. */
export function ServiceEditor(place: Place) {
  const { organizationid, appid, kind, name } = place;
  const loaded = useLoaded<Version>(JSON.stringify(place), (signal) => versionOf(place, signal));
  return (
    <Page title={name === undefined ? `New ${kind} service` : `${kind} service ${name}`}>
      <p>
        <Link to={`/applications/${pathOf(organizationid, appid)}`}>
          All services of {organizationid}/{appid}
        </Link>
      </p>
      <Loading of={loaded} what="the service">
        {(version) => <ServiceForm key={version.reading} version={version} reload={loaded.reload} />}
      </Loading>
      {name !== undefined && <SchemaSection {...{ organizationid, appid, kind, name }} />}
    </Page>
  );
}

/** What is stored. `default` is served also where nothing is, and then shows everything. */
async function versionOf({ name = '', ...of }: Place, signal: AbortSignal): Promise<Version> {
  const application = `applications/${pathOf(of.organizationid, of.appid)}`;
  const whole = { ...of, name, filter: name === DEFAULT ? {} : NEW_FILTER, enabled: true };
  readings += 1;
  const version = { service: whole, etag: null, reading: readings };
  if (name === '') return version;
  try {
    const path = `${application}/services/${pathOf(of.kind, name)}`;
    const { body, etag } = await admin<Service>(path, { signal });
    return { ...version, service: body, etag };
  } catch (error) {
    if (name !== DEFAULT || !(error instanceof ServiceError) || error.status !== 404) throw error;
    await admin(application, { signal });
    return version;
  }
}
