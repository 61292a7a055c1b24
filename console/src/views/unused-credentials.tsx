import { type FormEvent, useState } from 'react';
import { admin, pathOf, ServiceError } from '../api/client.js';
import type { Credential } from '../api/types.js';
import { useLoaded } from '../hooks/use-loaded.js';
import { Confirm } from '../parts/confirm.js';
import { Field } from '../parts/field.js';
import { many } from '../parts/format.js';
import { Loading } from '../parts/loading.js';
import { Time } from '../parts/time.js';

const USUAL_DAYS = '90';

interface Unused {
  result: Credential[];
  usesSince?: string;
}

/** Credentials that have been unused for a while, to be revoked together. */
export function UnusedCredentials({ onRevoked }: { onRevoked: () => void }) {
  const [days, setDays] = useState(USUAL_DAYS);
  const [asked, setAsked] = useState<string>();
  const loaded = useLoaded(asked, async (signal) => {
    return (await admin<Unused>(`credentials?unusedfor=${encodeURIComponent(asked ?? '')}`, { signal })).body;
  });
  const ask = (event: FormEvent) => {
    event.preventDefault();
    if (asked === days) loaded.reload();
    else setAsked(days);
  };
  const done = () => {
    loaded.reload();
    onRevoked();
  };
  return (
    <section className="card">
      <h2>Revoke unused credentials</h2>
      <form onSubmit={ask} className="row">
        <Field label="Days without a use" value={days} onChange={setDays} isRequired />
        <button>Show</button>
      </form>
      {asked !== undefined && (
        <Loading of={loaded} what="unused credentials">
          {(unused) => <Found unused={unused} days={asked} onDone={done} />}
        </Loading>
      )}
    </section>
  );
}

function Found({
  unused: { result, usesSince },
  days,
  onDone,
}: {
  unused: Unused;
  days: string;
  onDone: () => void;
}) {
  if (result.length === 0)
    return (
      <p className="empty">
        No credential is known to be unused for {days} days.
        {usesSince !== undefined && (
          <>
            {' '}
            Usage has been tracked since <Time at={usesSince} />.
          </>
        )}
      </p>
    );
  const revoke = async (signal: AbortSignal) => {
    try {
      for (const { username } of result) await revokeIfThere(username, signal);
    } finally {
      onDone();
    }
  };
  return (
    <Confirm
      label={`Revoke ${many(result.length, 'credential')}…`}
      title={`Revoke the credentials unused for ${days} days?`}
      action={`Revoke ${many(result.length, 'credential')}`}
      work={revoke}
    >
      <ul>
        {result.map(({ username, lastUsed }) => (
          <li key={username}>
            {username}, last used <Time at={lastUsed} />
          </li>
        ))}
      </ul>
    </Confirm>
  );
}

/** Somebody else may have revoked it meanwhile. */
async function revokeIfThere(username: string, signal: AbortSignal): Promise<void> {
  try {
    await admin(`credentials/${pathOf(username)}`, { method: 'DELETE', signal });
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status !== 404) throw error;
  }
}
