import { useState } from 'react';
import { admin, pathOf } from '../api/client.js';
import type { Kind, Preview, Service, Tenant } from '../api/types.js';
import { FilterEditor } from '../filter/editor.js';
import { PreviewPanel } from '../filter/preview-panel.js';
import { faultOf, parsed, usePreview } from '../filter/use-preview.js';
import { useLoaded } from '../hooks/use-loaded.js';
import { goTo } from '../hooks/use-route.js';
import { Confirm } from '../parts/confirm.js';
import { Field } from '../parts/field.js';
import { howMany } from '../parts/format.js';
import { Link } from '../parts/link.js';
import { Loading } from '../parts/loading.js';
import { Page } from '../parts/page.js';

interface Place extends Tenant {
  kind: Kind;
  /** Nothing for a new one. */
  name: string | undefined;
}

interface Version {
  service: Service;
  etag: string | null;
}

const NEW_FILTER = { 'data.category': 'bikes' };

/** A service with its filter, and what that would do. */
export function ServiceEditor(place: Place) {
  const { organizationid, appid, kind, name } = place;
  const of = `applications/${pathOf(organizationid, appid)}/services/${kind}`;
  const loaded = useLoaded<Version>(`${of}/${name ?? ''}`, async (signal) => {
    if (name === undefined) {
      const service = { organizationid, appid, kind, name: '', filter: NEW_FILTER, enabled: true };
      return { service, etag: null };
    }
    const { body, etag } = await admin<Service>(`${of}/${pathOf(name)}`, { signal });
    return { service: body, etag };
  });
  return (
    <Page title={name === undefined ? `New ${kind} service` : `${kind} service ${name}`}>
      <p>
        <Link to={`/applications/${pathOf(organizationid, appid)}`}>
          All services of {organizationid}/{appid}
        </Link>
      </p>
      <Loading of={loaded} what="the service">
        {(version) => (
          <Form key={version.etag} version={version} isNew={name === undefined} onSaved={loaded.reload} />
        )}
      </Loading>
    </Page>
  );
}

function Form({ version, isNew, onSaved }: { version: Version; isNew: boolean; onSaved: () => void }) {
  const { service, etag } = version;
  const [draft, setDraft] = useState({
    name: service.name,
    description: service.description ?? '',
    enabled: service.enabled,
    text: JSON.stringify(service.filter, null, 2),
  });
  const change = (part: Partial<typeof draft>) => setDraft((before) => ({ ...before, ...part }));
  const preview = usePreview(service, draft.text, draft.name);
  const save = async (signal: AbortSignal) => {
    const { organizationid, appid, kind } = service;
    const path = `applications/${pathOf(organizationid, appid)}/services/${pathOf(kind, draft.name)}`;
    const { description, enabled, text } = draft;
    const condition: Record<string, string> = isNew ? { 'If-None-Match': '*' } : { 'If-Match': etag ?? '' };
    const body = { filter: JSON.parse(text) as unknown, description, enabled };
    await admin(path, { method: 'PUT', headers: condition, body, signal });
    if (isNew) goTo(`/applications/${pathOf(organizationid, appid, kind, draft.name)}`);
    else onSaved();
  };
  const filter = parsed(draft.text);
  const isRight = filter !== undefined && preview.fault === undefined && draft.name !== '';
  return (
    <div className="beside">
      <section className="card" aria-label="Filter">
        {isNew && <Field label="Name" value={draft.name} onChange={(name) => change({ name })} isRequired />}
        <Field
          label="Description"
          value={draft.description}
          onChange={(description) => change({ description })}
        />
        <label className="check">
          <input
            type="checkbox"
            checked={draft.enabled}
            onChange={(event) => change({ enabled: event.target.checked })}
          />
          It is served
        </label>
        <p className="label">Filter</p>
        <FilterEditor text={draft.text} fault={preview.fault} onChange={(text) => change({ text })} />
        <p className="fault" role="status">
          {filter === undefined ? 'This is not a JSON object yet.' : (preview.fault ?? '')}
        </p>
        <Confirm
          label={isNew ? 'Register…' : 'Save…'}
          title={isNew ? `Register the service ${draft.name}?` : `Save the service ${draft.name}?`}
          action={isNew ? 'Register' : 'Save'}
          isDisabled={!isRight}
          isMain
          work={save}
        >
          <Consequence preview={preview.data} isServed={draft.enabled} />
        </Confirm>
      </section>
      <section className="card" aria-label="Preview">
        <h2>Preview</h2>
        <Loading
          of={{ ...preview, error: faultOf(preview.error) === undefined ? preview.error : undefined }}
          what="the preview"
        >
          {(data) => <PreviewPanel preview={data} tried={{ ...service, filter }} isServed={draft.enabled} />}
        </Loading>
      </section>
    </div>
  );
}

/** How many records move when it is saved. */
function Consequence({ preview, isServed }: { preview: Preview | undefined; isServed: boolean }) {
  if (preview === undefined) return <p>What it does is not known yet.</p>;
  const { matching, entering, leaving, restamps, error } = preview;
  const about = error === undefined ? '' : 'About ';
  if (entering === undefined || leaving === undefined)
    return (
      <p>{`${about}${howMany(matching.count, 'record')} will be in its updates. No record is stamped anew.`}</p>
    );
  return (
    <p>
      {about}
      {howMany(restamps, 'record')} will be delivered again{isServed ? '' : ' once it is served'}:{' '}
      {howMany(entering.count, 'record')} enter and {howMany(leaving.count, 'record')} leave.
    </p>
  );
}
