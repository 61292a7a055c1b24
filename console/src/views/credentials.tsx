import { useRef, useState } from 'react';
import { admin } from '../api/client.js';
import type { Credential, Tenant } from '../api/types.js';
import { useLoaded } from '../hooks/use-loaded.js';
import { isAhead } from '../parts/format.js';
import { Dialog } from '../parts/dialog.js';
import { Loading } from '../parts/loading.js';
import { Page } from '../parts/page.js';
import { State } from '../parts/state.js';
import { Table } from '../parts/table.js';
import { Time } from '../parts/time.js';
import { CredentialActions } from './credential-actions.js';
import { IssueCredential } from './issue-credential.js';
import { UnusedCredentials } from './unused-credentials.js';

/** The credentials that open no more than the session does. */
export function useCredentials() {
  return useLoaded(
    'credentials',
    async (signal) => (await admin<{ result: Credential[] }>('credentials', { signal })).body.result,
  );
}

export function Credentials() {
  const loaded = useCredentials();
  const [issued, setIssued] = useState<Credential>();
  const tell = (credential: Credential) => {
    setIssued(credential);
    loaded.reload();
  };
  return (
    <Page
      title="Credentials"
      intro="User names and passwords of consumers, of programs that write, and of administrators."
    >
      <Loading of={loaded} what="credentials">
        {(credentials) => (
          <Table
            caption="Credentials"
            rows={credentials}
            nameOf={({ username }) => username}
            empty="There is no credential that you may see."
            columns={[
              { title: 'User name', cell: ({ username }) => username },
              { title: 'Level', cell: ({ level }) => level },
              {
                title: 'Opens',
                cell: ({ scopes }) => opened(scopes).join(', '),
              },
              { title: 'State', cell: ({ state }) => <State word={state} /> },
              { title: 'Ends', cell: (one) => <Ends credential={one} /> },
              { title: 'Last used', cell: (one) => <LastUsed credential={one} /> },
              {
                title: 'Actions',
                cell: (one) => <CredentialActions credential={one} onDone={loaded.reload} onRotated={tell} />,
              },
            ]}
          />
        )}
      </Loading>
      <IssueCredential onIssued={tell} />
      <UnusedCredentials onRevoked={loaded.reload} />
      {issued !== undefined && <Password of={issued} onClose={() => setIssued(undefined)} />}
    </Page>
  );
}

function Ends({ credential: { expiresAt, oldexpiresAt } }: { credential: Credential }) {
  return (
    <>
      <Time at={expiresAt} />
      {isAhead(oldexpiresAt) && (
        <small className="faint">
          {' '}
          its old password <Time at={oldexpiresAt} />
        </small>
      )}
    </>
  );
}

function LastUsed({ credential: { lastUsed, lastUsedFrom } }: { credential: Credential }) {
  return (
    <>
      <Time at={lastUsed} />
      {lastUsedFrom !== null && <small className="faint"> from {lastUsedFrom}</small>}
    </>
  );
}

/** A password is shown once. */
function Password({ of: { username, password }, onClose }: { of: Credential; onClose: () => void }) {
  const place = useRef<HTMLElement>(null);
  const [said, setSaid] = useState('');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(password ?? '');
      setSaid('It is copied.');
    } catch {
      // Without TLS, pages have no clipboard.
      getSelection()?.selectAllChildren(place.current!);
      setSaid('The browser does not let the page copy it. It is selected now: copy it with the keyboard.');
    }
  };
  return (
    <Dialog title={`The password of ${username}`} onClose={onClose}>
      <p>
        <code ref={place} className="secret" data-secret>
          {password}
        </code>
      </p>
      <p>It is shown this once and stored nowhere. Hand it over now.</p>
      <p role="status">{said}</p>
      <div className="buttons">
        <button onClick={() => void copy()}>Copy</button>
        <button className="main" onClick={onClose}>
          I have it
        </button>
      </div>
    </Dialog>
  );
}

/** What a credential opens. Other programs write credentials too: what is no scope opens nothing. */
function opened(scopes: unknown): string[] {
  const written: unknown[] = Array.isArray(scopes) ? scopes : [];
  return written.flatMap((scope) => {
    const { organizationid, appid } = (scope ?? {}) as Partial<Tenant>;
    return typeof organizationid === 'string' && typeof appid === 'string'
      ? [`${organizationid}/${appid}`]
      : [];
  });
}
