import { type FormEvent, useEffect, useState } from 'react';
import type { Credential, Tenant } from '../api/types.js';
import { useRoute } from '../hooks/use-route.js';
import { kindsOf, useSession } from '../hooks/use-session.js';
import { type Work, useWork } from '../hooks/use-work.js';
import { Busy } from '../parts/busy.js';
import { Choice, Field } from '../parts/field.js';
import { many } from '../parts/format.js';
import { Json } from '../parts/json.js';
import { Loading } from '../parts/loading.js';
import { Page } from '../parts/page.js';
import { Problem } from '../parts/problem.js';
import { useApplications } from './applications.js';
import { useCredentials } from './credentials.js';
import { type Harvest, MOST_PAGES, type Step, steps } from './harvest.js';
import { useServices } from './services.js';

const DEFAULT = 'default';
/** A kind that every application has. */
const PRODUCT = 'product';

/** Harvests a feed as a credential would, step by step. Nothing is stored, and no consumer is counted. */
export function Explorer() {
  const { query } = useRoute();
  const credentials = useCredentials();
  const { done, isComplete, run, work } = useHarvest();
  const isCut = done.some((step) => step.isCut);
  return (
    <Page
      title="Explore a feed"
      intro="Harvests as a credential: what it gets, call by call, with the line to do the same in a terminal."
    >
      <Loading of={credentials} what="credentials">
        {(all) => (
          <Form
            usernames={all.filter(isUsable).map(({ username }) => username)}
            chosen={query.get('as') ?? ''}
            run={(harvest) => void run(harvest)}
            work={work}
            reached={isComplete && !isCut ? done[0]?.offset : undefined}
          />
        )}
      </Loading>
      <Problem error={work.error} />
      <Busy isBusy={work.isWorking} what="Harvesting" cancel={work.cancel} />
      <ol className="steps">
        {done.map((step) => (
          <StepDone key={step.url} step={step} />
        ))}
      </ol>
      {done.length > 0 && !work.isWorking && work.error === undefined && (
        <Sum of={done} isComplete={isComplete} isCut={isCut} />
      )}
    </Page>
  );
}

/** A harvest, step by step, and whether it has come to its end. */
function useHarvest() {
  const [done, setDone] = useState<Step[]>([]);
  const [isComplete, setIsComplete] = useState(false);
  const work = useWork();
  const run = async (harvest: Harvest) => {
    setDone([]);
    setIsComplete(false);
    const isDone = await work.start(async (signal) => {
      for await (const step of steps(harvest, signal)) setDone((before) => [...before, step]);
    });
    setIsComplete(isDone);
  };
  return { done, isComplete, run, work };
}

function isUsable({ state }: Credential): boolean {
  return state === 'valid';
}

function Form({
  usernames,
  chosen,
  run,
  work,
  reached,
}: {
  usernames: string[];
  chosen: string;
  run: (harvest: Harvest) => void;
  work: Work;
  reached: string | undefined;
}) {
  const [draft, setDraft] = useState<Harvest>({
    username: usernames.includes(chosen) ? chosen : (usernames[0] ?? ''),
    ...{ organizationid: '', appid: '', kind: PRODUCT, service: DEFAULT, from: '', limit: '1000' },
  });
  const change = (part: Partial<Harvest>) => setDraft((before) => ({ ...before, ...part }));
  const { who } = useSession();
  const { organizationid, kind } = draft;
  const chooseApplication = (of: Tenant, isDefault: boolean) =>
    setDraft((before) => {
      if (isDefault && before.organizationid !== '') return before;
      const isKept = kindsOf(who, of).includes(before.kind);
      return { ...before, ...of, service: DEFAULT, ...(!isKept && { kind: PRODUCT }) };
    });
  const applications = useApplications();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    run(draft);
  };
  return (
    <form className="card row" onSubmit={submit}>
      <Choice
        label="As"
        value={draft.username}
        choices={usernames}
        onChange={(username) => change({ username })}
      />
      <ApplicationChoice of={applications.data ?? []} draft={draft} onChange={chooseApplication} />
      <Choice
        label="Kind"
        value={kind}
        choices={kindsOf(who, draft)}
        onChange={(other) => change({ kind: other, service: DEFAULT })}
      />
      <ServiceChoice draft={draft} onChange={(service) => change({ service })} />
      <Field
        label="From"
        value={draft.from}
        onChange={(from) => change({ from })}
        hint="empty for a first harvest"
      />
      <Field label="Items a page" value={draft.limit} onChange={(limit) => change({ limit })} type="number" />
      <button className="main" disabled={work.isWorking || organizationid === ''}>
        Harvest
      </button>
      {reached !== undefined && (
        <button type="button" onClick={() => change({ from: reached })}>
          Go on from there
        </button>
      )}
      <Problem error={applications.error} />
    </form>
  );
}

/** One of the applications; the first one is chosen as soon as they are known, unless another one was chosen by then. */
function ApplicationChoice({
  of,
  draft,
  onChange,
}: {
  of: Tenant[];
  draft: Harvest;
  onChange: (tenant: Tenant, isDefault: boolean) => void;
}) {
  const names = of.map(({ organizationid, appid }) => `${organizationid}/${appid}`);
  const choose = (name: string, isDefault = false) => {
    const [organizationid = '', appid = ''] = name.split('/');
    onChange({ organizationid, appid }, isDefault);
  };
  useEffect(() => {
    if (names[0] !== undefined) choose(names[0], true);
  }, [names.join()]);
  return (
    <Choice
      label="Application"
      value={`${draft.organizationid}/${draft.appid}`}
      choices={names}
      onChange={choose}
    />
  );
}

function ServiceChoice({ draft, onChange }: { draft: Harvest; onChange: (service: string) => void }) {
  const { organizationid, appid, kind, service } = draft;
  const services = useServices(organizationid === '' ? undefined : { organizationid, appid });
  const names = (services.data?.result ?? []).filter((one) => one.kind === kind).map(({ name }) => name);
  return (
    <>
      <Choice
        label="Service"
        value={service}
        choices={[...new Set([DEFAULT, ...names])]}
        onChange={onChange}
      />
      <Problem error={services.error} />
    </>
  );
}

function StepDone({ step: { title, curl, items, offset } }: { step: Step }) {
  return (
    <li className="card">
      <h2>{title}</h2>
      <p className="big">{offset ?? many(items.length, 'item')}</p>
      <pre tabIndex={0} role="region" aria-label={`Command: ${title}`}>
        {curl}
      </pre>
      {items.length > 0 && (
        <details>
          <summary>Show {many(items.length, 'item')}</summary>
          <Json value={items} label={`Items: ${title}`} />
        </details>
      )}
    </li>
  );
}

function Sum({ of, isComplete, isCut }: { of: Step[]; isComplete: boolean; isCut: boolean }) {
  const items = of.reduce((sum, { items: some }) => sum + some.length, 0);
  return (
    <p role="status">
      {isComplete ? 'Done' : 'Harvesting was cancelled'}: {many(items, 'item')} in{' '}
      {many(of.length, 'request')}.
      {isCut && ` At most ${MOST_PAGES} pages of each feed are read here: some items are missing.`}
    </p>
  );
}
