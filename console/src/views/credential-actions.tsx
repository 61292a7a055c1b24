import { useState } from 'react';
import { admin, pathOf } from '../api/client.js';
import type { Credential } from '../api/types.js';
import { useSession } from '../hooks/use-session.js';
import { Confirm } from '../parts/confirm.js';
import { Choice } from '../parts/field.js';
import { isAhead, many } from '../parts/format.js';
import { Link } from '../parts/link.js';

const DAY_MS = 86_400_000;
const KEPT_DAYS = ['0', '1', '7', '30'] as const;

/** What can be done to a credential. */
export function CredentialActions({
  credential,
  onDone,
  onRotated,
}: {
  credential: Credential;
  onDone: () => void;
  onRotated: (credential: Credential) => void;
}) {
  const { username, state, oldexpiresAt } = credential;
  const { who } = useSession();
  const path = `credentials/${pathOf(username)}`;
  const own = who.username === username && (
    <p className="notice">You are signed in with this credential: it ends your session.</p>
  );
  const change = (method: string, of = path, body?: object) => ({
    work: async (signal: AbortSignal) => {
      await admin(of, { method, signal, ...(body && { body }) });
      onDone();
    },
    onUncertain: onDone,
  });
  return (
    <span className="buttons">
      <Link to={`/explorer?as=${encodeURIComponent(username)}`}>Explore</Link>
      <Rotate username={username} path={path} own={own} onRotated={onRotated} onUncertain={onDone} />
      {isAhead(oldexpiresAt) && (
        <Confirm
          label="Retire old"
          title={`Retire the old password of ${username}?`}
          action="Retire it"
          {...change('DELETE', `${path}/oldpassword`)}
        >
          <p>The password before opens nothing any more. The newer one stays.</p>
        </Confirm>
      )}
      {state === 'disabled' ? (
        <Confirm
          label="Enable"
          title={`Enable ${username}?`}
          action="Enable"
          {...change('PATCH', path, { disabled: false })}
        >
          <p>It opens again what it opened before.</p>
        </Confirm>
      ) : (
        <Confirm
          label="Disable"
          title={`Disable ${username}?`}
          action="Disable"
          {...change('PATCH', path, { disabled: true })}
        >
          <p>It opens nothing until it is enabled again.</p>
          {own}
        </Confirm>
      )}
      <Confirm
        label="Revoke"
        title={`Revoke ${username}?`}
        action={`Revoke ${username}`}
        {...change('DELETE')}
      >
        <p>It is removed, and whoever uses it gets 401 within two seconds.</p>
        {own}
      </Confirm>
    </span>
  );
}

function Rotate({
  username,
  path,
  own,
  onRotated,
  onUncertain,
}: {
  username: string;
  path: string;
  own: React.ReactNode;
  onRotated: (credential: Credential) => void;
  onUncertain: () => void;
}) {
  const [days, setDays] = useState<(typeof KEPT_DAYS)[number]>('0');
  const rotate = async (signal: AbortSignal) => {
    const keepOldUntil = new Date(Date.now() + Number(days) * DAY_MS).toISOString();
    const body = days === '0' ? {} : { keepOldUntil };
    onRotated((await admin<Credential>(`${path}/rotate`, { method: 'POST', body, signal })).body);
  };
  return (
    <Confirm
      label="Rotate"
      title={`Give ${username} another password?`}
      action="Give another"
      work={rotate}
      onUncertain={onUncertain}
    >
      <Choice
        label="The password it has now"
        value={days}
        choices={KEPT_DAYS}
        words={(kept) => (kept === '0' ? 'ends at once' : `works for ${many(Number(kept), 'more day')}`)}
        onChange={setDays}
      />
      {days === '0' ? own : <p>Until then both open it; the old one can be retired before.</p>}
    </Confirm>
  );
}
