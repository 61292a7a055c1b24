import { useState } from 'react';
import { pathOf } from '../api/client.js';
import type { Group, Preview, Service } from '../api/types.js';
import { FieldsSection } from '../fields/fields-section.js';
import { FieldsSummary } from '../fields/fields-summary.js';
import { Samples } from '../fields/samples.js';
import { type Fault, shownFieldsOf } from '../fields/shown-fields.js';
import { FilterEditor } from '../filter/editor.js';
import { PreviewPanel } from '../filter/preview-panel.js';
import { usePreview } from '../filter/use-preview.js';
import { goOn } from '../hooks/use-route.js';
import { Confirm } from '../parts/confirm.js';
import { Check, Field } from '../parts/field.js';
import { howMany } from '../parts/format.js';
import { Loading } from '../parts/loading.js';
import { Unsaved } from '../parts/unsaved.js';
import {
  type Draft,
  draftOf,
  hasFilter,
  isOvertaken,
  parsed,
  previewed,
  put,
  type Version,
} from './service-draft.js';

/** The form of a service, and what it would do. */
export function ServiceForm({ version: read, reload }: { version: Version; reload: () => void }) {
  const [version, setVersion] = useState(read);
  const { service } = version;
  const isUnnamed = service.name === '';
  const [saved, setSaved] = useState(() => draftOf(service));
  const [draft, setDraft] = useState(saved);
  const [isStale, setIsStale] = useState(false);
  const edit = previewed(draft, !hasFilter(service));
  const preview = usePreview(service, edit, draft.name);
  const { faults } = preview;
  const isWrong = edit === undefined || faults.length > 0;
  const isServed = draft.enabled || !hasFilter(service);
  const save = async (signal: AbortSignal) => {
    try {
      const stored = await put(version, draft, signal);
      setSaved(draft);
      const { organizationid, appid, kind } = service;
      if (isUnnamed) return goOn(`/applications/${pathOf(organizationid, appid, kind, draft.name)}`);
      setVersion(stored);
      preview.reload();
    } catch (error) {
      if (isUnnamed || !isOvertaken(error, version)) throw error;
      setIsStale(true);
    }
  };
  return (
    <>
      {!isUnnamed && <Shown of={service} />}
      <div className="beside">
        <Unsaved isUnsaved={JSON.stringify(draft) !== JSON.stringify(saved)} />
        <section className="card" aria-label="Settings">
          <Inputs
            service={service}
            draft={draft}
            onChange={(part) => setDraft((before) => ({ ...before, ...part }))}
            faults={faults}
          />
          {isStale && <Stale reload={reload} />}
          <Confirm
            label={isUnnamed ? 'Register…' : 'Save…'}
            title={isUnnamed ? `Register the service ${draft.name}?` : `Save the service ${draft.name}?`}
            action={isUnnamed ? 'Register' : 'Save'}
            isDisabled={isWrong || draft.name === ''}
            isMain
            work={save}
          >
            <Consequence preview={preview.data} isServed={isServed} />
          </Confirm>
        </section>
        <section className="card" aria-label="Preview">
          <h2>Preview</h2>
          {isWrong ? (
            <p className="empty">There is none while something in the form is wrong.</p>
          ) : (
            <Loading of={preview} what="the preview">
              {(data) => (
                <PreviewPanel
                  preview={data}
                  tried={hasFilter(service) ? { ...service, filter: parsed(draft.text) } : undefined}
                  isServed={isServed}
                />
              )}
            </Loading>
          )}
        </section>
        <Samples of={preview.data?.samples ?? []} />
      </div>
    </>
  );
}

/** What is stored, in short. */
function Shown({ of }: { of: Service }) {
  return (
    <p>
      {'Fields that it shows: '}
      <FieldsSummary of={of} />
    </p>
  );
}

function Inputs({
  service,
  draft,
  onChange,
  faults,
}: {
  service: Service;
  draft: Draft;
  onChange: (part: Partial<Draft>) => void;
  faults: Fault[];
}) {
  const isDefault = !hasFilter(service);
  const nameFault = faults.find(({ pointer }) => pointer === '/name')?.detail;
  const otherFault = faults.find(({ pointer = '' }) => !/^\/(name|filter|fields|hash)/.test(pointer))?.detail;
  return (
    <>
      {service.name === '' && (
        <>
          <Field label="Name" value={draft.name} onChange={(name) => onChange({ name })} isRequired />
          {nameFault !== undefined && (
            <p className="fault" role="alert">
              The name {nameFault}
            </p>
          )}
        </>
      )}
      <Field
        label="Description"
        value={draft.description}
        onChange={(description) => onChange({ description })}
      />
      <Check
        label="Enabled"
        value={draft.enabled}
        onChange={(enabled) => onChange({ enabled })}
        hint={isDefault ? 'If it is disabled, it shows all fields.' : undefined}
      />
      {isDefault ? (
        <p>It has no filter: every record is in its updates. The channels show the same fields.</p>
      ) : (
        <FilterInput draft={draft} onChange={onChange} faults={faults} />
      )}
      {shownFieldsOf(service) === undefined && (
        <p className="notice">
          The stored fields cannot be read, so that the service delivers nothing. Saving replaces them with
          what is chosen here.
        </p>
      )}
      <FieldsSection
        draft={draft.fields}
        onChange={(part) => onChange({ fields: { ...draft.fields, ...part } })}
        faults={faults}
        isDefault={isDefault}
      />
      <Check
        label="Examples in the schema"
        value={draft.schemaExamples}
        onChange={(schemaExamples) => onChange({ schemaExamples })}
        hint="Up to three values of each field that the service shows."
      />
      {otherFault !== undefined && (
        <p className="fault" role="alert">
          {otherFault}
        </p>
      )}
    </>
  );
}

function FilterInput({
  draft: { text },
  onChange,
  faults,
}: {
  draft: Draft;
  onChange: (part: Partial<Draft>) => void;
  faults: Fault[];
}) {
  const fault = faults.find(({ pointer }) => pointer === '/filter')?.detail;
  return (
    <>
      <p className="label">Filter</p>
      <FilterEditor text={text} fault={fault} onChange={(now) => onChange({ text: now })} />
      <p className="fault" role="status">
        {parsed(text) === undefined ? 'This is not a JSON object yet.' : fault}
      </p>
    </>
  );
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

/** How many records are delivered again when it is saved. */
function Consequence({ preview, isServed }: { preview: Preview | undefined; isServed: boolean }) {
  if (preview === undefined) return <p>What it does is not known yet.</p>;
  const { matching, entering, leaving, concerned, restamps, error } = preview;
  const about = error === undefined ? '' : 'About ';
  if (entering === undefined || leaving === undefined)
    return (
      <p>{`${about}${howMany(matching.count, 'record')} will be in its updates. No record is delivered again.`}</p>
    );
  const moved = [
    ...groupIn(entering, 'enter'),
    ...groupIn(leaving, 'leave'),
    ...(concerned === undefined ? [] : groupIn(concerned, 'show other fields')),
  ];
  return (
    <p>
      {about}
      {howMany(restamps, 'record')} will be delivered again{isServed ? '' : ' once it is enabled'}
      {moved.length > 0 && `: ${listed(moved)}`}.
    </p>
  );
}

function groupIn({ count }: Group, does: string): string[] {
  return count === 0 ? [] : [`${howMany(count, 'record')} ${does}`];
}

function listed(parts: string[]): string {
  return [parts.slice(0, -1).join(', '), parts.at(-1)].filter(Boolean).join(' and ');
}
