import { type FormEvent, useState } from 'react';
import { admin } from '../api/client.js';
import { type Credential, LEVELS } from '../api/types.js';
import { useSession } from '../hooks/use-session.js';
import { useWork } from '../hooks/use-work.js';
import { Busy } from '../parts/busy.js';
import { Choice, Field } from '../parts/field.js';
import { Problem } from '../parts/problem.js';

const MEANING = {
  read: 'read: harvests feeds',
  write: 'write: reads, and writes members',
  admin: 'admin: writes, and administers',
};
const EVERY = '*';

export function IssueCredential({ onIssued }: { onIssued: (credential: Credential) => void }) {
  const { who } = useSession();
  const [draft, setDraft] = useState({
    username: '',
    level: 'read' as Credential['level'],
    organizationid: who.scopes[0]?.organizationid ?? '',
    appid: who.scopes[0]?.appid ?? '',
    ends: '',
  });
  const change = (part: Partial<typeof draft>) => setDraft((before) => ({ ...before, ...part }));
  const { isWorking, error, start, cancel } = useWork();
  const issue = (event: FormEvent) => {
    event.preventDefault();
    const { username, level, organizationid, appid, ends } = draft;
    const scopes = [{ organizationid, appid }];
    const body = { username, level, scopes, ...(ends !== '' && { expiresAt: `${ends}T00:00:00Z` }) };
    void start(async (signal) => {
      onIssued((await admin<Credential>('credentials', { method: 'POST', body, signal })).body);
      change({ username: '' });
    });
  };
  return (
    <section className="card">
      <h2>Issue a credential</h2>
      <form onSubmit={issue} className="row">
        <Field
          label="User name"
          value={draft.username}
          onChange={(username) => change({ username })}
          isRequired
        />
        <Choice
          label="Level"
          value={draft.level}
          choices={LEVELS}
          words={(level) => MEANING[level]}
          onChange={(level) => change({ level })}
        />
        <Field
          label="Organization"
          value={draft.organizationid}
          onChange={(organizationid) => change({ organizationid })}
          hint={`${EVERY} for every one`}
          isRequired
        />
        <Field
          label="Application"
          value={draft.appid}
          onChange={(appid) => change({ appid })}
          hint={`${EVERY} for every one`}
          isRequired
        />
        <Field
          label="Ends"
          type="date"
          value={draft.ends}
          onChange={(ends) => change({ ends })}
          hint="or never"
        />
        <button className="main" disabled={isWorking}>
          Issue
        </button>
      </form>
      <Problem error={error} />
      <Busy isBusy={isWorking} what="Issuing" cancel={cancel} />
    </section>
  );
}
