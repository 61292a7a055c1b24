import { type FormEvent, useState } from 'react';
import { admin, isSessionOver, pathOf } from '../api/client.js';
import type { Application, RecordStory, SignedIn } from '../api/types.js';
import { useLoaded } from '../hooks/use-loaded.js';
import { goTo, useRoute } from '../hooks/use-route.js';
import { kindsOf, useSession } from '../hooks/use-session.js';
import { Field } from '../parts/field.js';
import { count, many } from '../parts/format.js';
import { Json } from '../parts/json.js';
import { Loading } from '../parts/loading.js';
import { Page } from '../parts/page.js';
import { Problem } from '../parts/problem.js';
import { State } from '../parts/state.js';
import { Time } from '../parts/time.js';
import { StampedAnew } from './stamped-anew.js';

/** So many applications are asked at a time. */
const AT_A_TIME = 6;
/** More are not asked: the command `record show` takes the application. */
const MOST_APPLICATIONS = 200;

const MEANING: Record<RecordStory['state'], string> = {
  alive: 'It is in the feeds.',
  gone: 'It is in the hard deletes.',
  'not yet known': 'It is stored, and the watcher has not come to it, or leaves it out.',
  unknown: 'Nothing is known under this id.',
};

/** What is known under an id, the searches that failed, and the number of applications that were not asked. */
interface Found {
  stories: RecordStory[];
  failed: { place: string; error: unknown }[];
  unasked: number;
}

/** Why a record is there or gone, in whichever application. */
export function Search() {
  const { query } = useRoute();
  const id = query.get('id') ?? '';
  const { who } = useSession();
  const loaded = useLoaded(id === '' ? undefined : id, (signal) => storiesOf(id, who, signal));
  return (
    <Page
      title="Find a record"
      intro="By its id: whether it is alive or gone, since when, which services match it, and when and why it was stamped anew."
    >
      <SearchField key={id} id={id} />
      {id !== '' && (
        <Loading of={loaded} what="what is known">
          {({ stories, failed, unasked }) => (
            <>
              {failed.length > 0 && (
                <>
                  <p className="notice">
                    The search failed in {failed.map(({ place }) => place).join(', ')}. The first error:
                  </p>
                  <Problem error={failed[0]?.error} />
                </>
              )}
              {unasked > 0 && (
                <p className="notice">
                  Only the first {count(MOST_APPLICATIONS)} applications were searched, and{' '}
                  {many(unasked, 'other')} not. The command <code>record show</code> takes the application.
                </p>
              )}
              {stories.length === 0 && (
                <p className="empty">
                  Nothing is known under the id “{id}” in the applications that{' '}
                  {unasked > 0 || failed.length > 0 ? 'were searched' : 'you see'}. It never was there, or its
                  hard delete is kept no longer.
                </p>
              )}
              {stories.map((story) => (
                <Story key={`${story.organizationid}/${story.appid}/${story.kind}`} story={story} />
              ))}
            </>
          )}
        </Loading>
      )}
    </Page>
  );
}

function SearchField({ id }: { id: string }) {
  const [text, setText] = useState(id);
  const search = (event: FormEvent) => {
    event.preventDefault();
    goTo(`/search?id=${encodeURIComponent(text)}`);
  };
  return (
    <form role="search" onSubmit={search} className="row">
      <Field label="Id" value={text} onChange={setText} isRequired />
      <button className="main">Find</button>
    </form>
  );
}

async function storiesOf(id: string, who: SignedIn, signal: AbortSignal): Promise<Found> {
  const { body } = await admin<{ result: Application[] }>('applications', { signal });
  const places = body.result
    .slice(0, MOST_APPLICATIONS)
    .flatMap((one) => kindsOf(who, one).map((kind) => ({ ...one, kind })));
  const stories: RecordStory[] = [];
  const failed: Found['failed'] = [];
  for (let from = 0; from < places.length; from += AT_A_TIME) {
    const some = places.slice(from, from + AT_A_TIME);
    const found = await Promise.allSettled(
      some.map(async ({ organizationid, appid, kind }) => {
        const path = `applications/${pathOf(organizationid, appid)}/records/${pathOf(kind, id)}`;
        return (await admin<RecordStory>(path, { signal })).body;
      }),
    );
    for (const [index, one] of found.entries()) {
      const { organizationid, appid, kind } = some[index]!;
      if (one.status === 'fulfilled') stories.push(one.value);
      else if (signal.aborted || isSessionOver(one.reason)) throw one.reason;
      else failed.push({ place: `${kind} of ${organizationid}/${appid}`, error: one.reason });
    }
  }
  const known = stories.filter(({ state }) => state !== 'unknown');
  if (stories.length === 0 && failed.length > 0) throw failed[0]!.error;
  return { stories: known, failed, unasked: Math.max(0, body.result.length - MOST_APPLICATIONS) };
}

function Story({ story }: { story: RecordStory }) {
  const { organizationid, appid, kind, id, state, lastupdated, record, services } = story;
  return (
    <section className="card" aria-label={`${kind} ${id} of ${organizationid}/${appid}`}>
      <h2>
        {kind} {id} of {organizationid}/{appid}
      </h2>
      <p>
        <State word={state} /> {MEANING[state]}
        {lastupdated !== null && (
          <>
            {' '}
            Stamped <Time at={lastupdated} />, {lastupdated}: windows that hold this moment tell of it.
          </>
        )}
      </p>
      {record !== null && (
        <>
          <h3>Services</h3>
          {services.length === 0 && <p>Only “default”, which matches everything.</p>}
          <ul>
            {services.map(({ name, matches }) => (
              <li key={name}>
                {name} <State word={wordFor(matches)} />
              </li>
            ))}
          </ul>
        </>
      )}
      <StampedAnew story={story} />
      {record !== null && (
        <>
          <h3>Record</h3>
          <Json value={record} label={`Record, ${many(JSON.stringify(record).length, 'character')}`} />
        </>
      )}
    </section>
  );
}

function wordFor(matches: boolean | undefined): string {
  if (matches === undefined) return 'unknown';
  return matches ? 'matches' : 'does not match';
}
