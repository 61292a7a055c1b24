import { type FormEvent, useEffect, useState } from 'react';
import type { Credential } from '../api/types.js';
import { useRoute } from '../hooks/use-route.js';
import { useSession } from '../hooks/use-session.js';
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

/** Harvests a feed as a credential would, step by step. Nothing is stored, and no consumer is counted. */
export function Explorer() {
  const { query } = useRoute();
  const credentials = useCredentials();
  const [done, setDone] = useState<Step[]>([]);
  const work = useWork();
  const run = (harvest: Harvest) => {
    setDone([]);
    void work.start(async (signal) => {
      for await (const step of steps(harvest, signal)) setDone((before) => [...before, step]);
    });
  };
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
            run={run}
            work={work}
            reached={done[0]?.offset}
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
      {done.length > 0 && !work.isWorking && work.error === undefined && <Sum of={done} />}
    </Page>
  );
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
    ...{ organizationid: '', appid: '', kind: 'product', service: DEFAULT, from: '', limit: '1000' },
  });
  const change = (part: Partial<Harvest>) => setDraft((before) => ({ ...before, ...part }));
  const { kinds } = useSession().who;
  const { organizationid, appid, kind } = draft;
  const services = useServices(organizationid === '' ? undefined : { organizationid, appid });
  const names = (services.data?.result ?? []).filter((one) => one.kind === kind).map(({ name }) => name);
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
      <ApplicationChoice draft={draft} onChange={(part) => change({ ...part, service: DEFAULT })} />
      <Choice
        label="Kind"
        value={kind}
        choices={kinds}
        onChange={(other) => change({ kind: other, service: DEFAULT })}
      />
      <Choice
        label="Service"
        value={draft.service}
        choices={[...new Set([DEFAULT, ...names])]}
        onChange={(service) => change({ service })}
      />
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
      {reached !== undefined && !work.isWorking && (
        <button type="button" onClick={() => change({ from: reached })}>
          Go on from there
        </button>
      )}
    </form>
  );
}

/** One of the applications; the first one is chosen as soon as they are known. */
function ApplicationChoice({
  draft,
  onChange,
}: {
  draft: Harvest;
  onChange: (part: Pick<Harvest, 'organizationid' | 'appid'>) => void;
}) {
  const { data = [] } = useApplications();
  const names = data.map(({ organizationid, appid }) => `${organizationid}/${appid}`);
  const choose = (name: string) => {
    const [organizationid = '', appid = ''] = name.split('/');
    onChange({ organizationid, appid });
  };
  useEffect(() => {
    if (draft.organizationid === '' && names[0] !== undefined) choose(names[0]);
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

function Sum({ of }: { of: Step[] }) {
  const items = of.reduce((sum, { items: some }) => sum + some.length, 0);
  const isCut = of.some(({ title }) => title.endsWith(`page ${MOST_PAGES}`));
  return (
    <p role="status">
      Done: {many(items, 'item')} in {many(of.length, 'request')}.
      {isCut && ` Of each feed ${MOST_PAGES} pages were read at most.`}
    </p>
  );
}
