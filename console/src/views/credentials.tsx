import { useState } from 'react';
import { admin, pathOf } from '../api/client.js';
import type { Credential } from '../api/types.js';
import { useLoaded } from '../hooks/use-loaded.js';
import { useSession } from '../hooks/use-session.js';
import { Confirm } from '../parts/confirm.js';
import { Dialog } from '../parts/dialog.js';
import { Link } from '../parts/link.js';
import { Loading } from '../parts/loading.js';
import { Page } from '../parts/page.js';
import { State } from '../parts/state.js';
import { Table } from '../parts/table.js';
import { Time } from '../parts/time.js';
import { IssueCredential } from './issue-credential.js';

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
                cell: ({ scopes }) =>
                  scopes.map(({ organizationid, appid }) => `${organizationid}/${appid}`).join(', '),
              },
              { title: 'State', cell: ({ state }) => <State word={state} /> },
              { title: 'Ends', cell: ({ expiresAt }) => <Time at={expiresAt} /> },
              {
                title: 'Actions',
                cell: (one) => <Actions credential={one} onDone={loaded.reload} onRotated={tell} />,
              },
            ]}
          />
        )}
      </Loading>
      <IssueCredential onIssued={tell} />
      {issued !== undefined && <Password of={issued} onClose={() => setIssued(undefined)} />}
    </Page>
  );
}

function Actions({
  credential: { username, state },
  onDone,
  onRotated,
}: {
  credential: Credential;
  onDone: () => void;
  onRotated: (credential: Credential) => void;
}) {
  const { who } = useSession();
  const path = `credentials/${pathOf(username)}`;
  const isOwn = who.username === username;
  const set = (disabled: boolean) => async (signal: AbortSignal) => {
    await admin(path, { method: 'PATCH', body: { disabled }, signal });
    onDone();
  };
  const rotate = async (signal: AbortSignal) =>
    onRotated((await admin<Credential>(`${path}/rotate`, { method: 'POST', signal })).body);
  const revoke = async (signal: AbortSignal) => {
    await admin(path, { method: 'DELETE', signal });
    onDone();
  };
  const own = isOwn && (
    <p className="notice">You are signed in with this credential: it ends your session.</p>
  );
  return (
    <span className="buttons">
      <Link to={`/explorer?as=${encodeURIComponent(username)}`}>Explore</Link>
      <Confirm
        label="Rotate"
        title={`Give ${username} another password?`}
        action="Give another"
        work={rotate}
      >
        <p>The password it has now opens nothing any more.</p>
        {own}
      </Confirm>
      {state === 'disabled' ? (
        <Confirm label="Enable" title={`Enable ${username}?`} action="Enable" work={set(false)}>
          <p>It opens again what it opened before.</p>
        </Confirm>
      ) : (
        <Confirm label="Disable" title={`Disable ${username}?`} action="Disable" work={set(true)}>
          <p>It opens nothing until it is enabled again.</p>
          {own}
        </Confirm>
      )}
      <Confirm label="Revoke" title={`Revoke ${username}?`} action={`Revoke ${username}`} work={revoke}>
        <p>It is removed, and whoever uses it gets 401 within two seconds.</p>
        {own}
      </Confirm>
    </span>
  );
}

/** A password is shown once. */
function Password({ of: { username, password }, onClose }: { of: Credential; onClose: () => void }) {
  return (
    <Dialog title={`The password of ${username}`} onClose={onClose}>
      <p>
        <code className="secret" data-secret>
          {password}
        </code>
      </p>
      <p>It is shown this once and stored nowhere. Hand it over now.</p>
      <div className="buttons">
        <button onClick={() => void navigator.clipboard?.writeText(password ?? '')}>Copy</button>
        <button className="main" onClick={onClose}>
          I have it
        </button>
      </div>
    </Dialog>
  );
}
