import { type FormEvent, useState } from 'react';
import { admin } from '../api/client.js';
import { type Credential, LEVELS } from '../api/types.js';
import { useWork } from '../hooks/use-work.js';
import { Busy } from '../parts/busy.js';
import { Choice, Field } from '../parts/field.js';
import { Problem } from '../parts/problem.js';
import { NOTHING_OPENED, OpensFields, OpensWarning, scopeOf } from './opens.js';

const MEANING = {
  read: 'read: harvests feeds',
  write: 'write: reads, and writes members',
  admin: 'admin: writes, and administers',
};

export function IssueCredential({ onIssued }: { onIssued: (credential: Credential) => void }) {
  const [draft, setDraft] = useState({
    username: '',
    level: 'read' as Credential['level'],
    ...NOTHING_OPENED,
    ends: '',
  });
  const change = (part: Partial<typeof draft>) => setDraft((before) => ({ ...before, ...part }));
  const { isWorking, error, start, cancel } = useWork();
  const issue = (event: FormEvent) => {
    event.preventDefault();
    const { username, level, ends } = draft;
    void start(async (signal) => {
      const scopes = [scopeOf(draft)];
      const body = { username, level, scopes, ...(ends !== '' && { expiresAt: `${ends}T00:00:00Z` }) };
      onIssued((await admin<Credential>('credentials', { method: 'POST', body, signal })).body);
      change({ username: '', extent: NOTHING_OPENED.extent });
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
        <OpensFields of={draft} onChange={change} />
        <Field
          label="Ends"
          type="date"
          value={draft.ends}
          onChange={(ends) => change({ ends })}
          hint="at 0:00 UTC; empty: never"
        />
        <button className="main" disabled={isWorking}>
          Issue
        </button>
      </form>
      <OpensWarning extent={draft.extent} />
      <Problem error={error} />
      <Busy isBusy={isWorking} what="Issuing" cancel={cancel} />
    </section>
  );
}
