import { useState } from 'react';
import { admin, pathOf, ServiceError } from '../api/client.js';
import type { Preview, Service, Tenant } from '../api/types.js';
import { FilterEditor } from '../filter/editor.js';
import { PreviewPanel } from '../filter/preview-panel.js';
import { faultOf, parsed, usePreview } from '../filter/use-preview.js';
import { useLoaded } from '../hooks/use-loaded.js';
import { goOn } from '../hooks/use-route.js';
import { Confirm } from '../parts/confirm.js';
import { Field } from '../parts/field.js';
import { howMany } from '../parts/format.js';
import { Link } from '../parts/link.js';
import { Loading } from '../parts/loading.js';
import { Page } from '../parts/page.js';
import { Unsaved } from '../parts/unsaved.js';

interface Place extends Tenant {
  kind: string;
  /** Nothing for a new one. */
  name: string | undefined;
}

interface Version {
  /** Each reading has its own: the fields begin anew with it. */
  reading: number;
  service: Service;
  etag: string | null;
}

let readings = 0;

const NEW_FILTER = { 'data.category': 'bikes' };

/** A service with its filter, and what that would do. */
export function ServiceEditor(place: Place) {
  const { organizationid, appid, kind, name } = place;
  const of = `applications/${pathOf(organizationid, appid)}/services/${kind}`;
  const loaded = useLoaded<Version>(`${of}/${name ?? ''}`, async (signal) => {
    if (name === undefined) {
      const service = { organizationid, appid, kind, name: '', filter: NEW_FILTER, enabled: true };
      return { service, etag: null, reading: 0 };
    }
    const { body, etag } = await admin<Service>(`${of}/${pathOf(name)}`, { signal });
    readings += 1;
    return { service: body, etag, reading: readings };
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
          <Form key={version.reading} version={version} isNew={name === undefined} reload={loaded.reload} />
        )}
      </Loading>
    </Page>
  );
}

function Form({ version, isNew, reload }: { version: Version; isNew: boolean; reload: () => void }) {
  const { service } = version;
  const [saved, setSaved] = useState(() => draftOf(service));
  const [draft, setDraft] = useState(saved);
  const [isStale, setIsStale] = useState(false);
  const change = (part: Partial<typeof draft>) => setDraft((before) => ({ ...before, ...part }));
  const preview = usePreview(service, draft.text, draft.name);
  const save = async (signal: AbortSignal) => {
    try {
      await put(version, draft, isNew, signal);
    } catch (error) {
      if (isNew || !(error instanceof ServiceError) || error.status !== 412) throw error;
      return setIsStale(true);
    }
    setSaved(draft);
    const { organizationid, appid, kind } = service;
    if (isNew) goOn(`/applications/${pathOf(organizationid, appid, kind, draft.name)}`);
    else reload();
  };
  const filter = parsed(draft.text);
  const isRight = filter !== undefined && preview.fault === undefined && draft.name !== '';
  return (
    <div className="beside">
      <Unsaved isUnsaved={JSON.stringify(draft) !== JSON.stringify(saved)} />
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
        {isStale && <Stale reload={reload} />}
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

/** What may be edited, as the fields hold it. */
function draftOf({ name, description = '', enabled, filter }: Service) {
  return { name, description, enabled, text: JSON.stringify(filter, null, 2) };
}

/** Stores it, unless somebody else did since this version was read. */
async function put(
  { service: { organizationid, appid, kind }, etag }: Version,
  { name, description, enabled, text }: ReturnType<typeof draftOf>,
  isNew: boolean,
  signal: AbortSignal,
): Promise<void> {
  const path = `applications/${pathOf(organizationid, appid)}/services/${pathOf(kind, name)}`;
  const headers: Record<string, string> = isNew ? { 'If-None-Match': '*' } : { 'If-Match': etag ?? '' };
  const body = { filter: JSON.parse(text) as unknown, description, enabled };
  await admin(path, { method: 'PUT', headers, body, signal });
}

/** What is stored is another version than the one that was edited. */
function Stale({ reload }: { reload: () => void }) {
  return (
    <div className="problem" role="alert">
      <p>
        Somebody else has changed it meanwhile. Read it again to see theirs; what you typed stays in the field
        until then.
      </p>
      <button type="button" onClick={reload}>
        Read it again
      </button>
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
