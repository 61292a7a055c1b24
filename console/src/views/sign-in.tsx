import { type FormEvent, useState } from 'react';
import { admin } from '../api/client.js';
import type { SignedIn } from '../api/types.js';
import { useWork } from '../hooks/use-work.js';
import { Busy } from '../parts/busy.js';
import { Field } from '../parts/field.js';
import { Page } from '../parts/page.js';
import { Problem } from '../parts/problem.js';

export function SignIn({ isOver, onSignedIn }: { isOver: boolean; onSignedIn: (who: SignedIn) => void }) {
  const [username, setUsername] = useState('');
  const [password, setPassword] = useState('');
  const { isWorking, error, start, cancel } = useWork();
  const signIn = (event: FormEvent) => {
    event.preventDefault();
    void start(async (signal) => {
      const { body } = await admin<SignedIn>('session', {
        method: 'POST',
        body: { username, password },
        signal,
      });
      onSignedIn(body);
    });
  };
  return (
    <main className="sign-in">
      <Page title="Sign in" intro="With a credential of level admin.">
        {isOver && error === undefined && (
          <p role="alert" className="notice">
            Your session is over. Sign in again.
          </p>
        )}
        <form onSubmit={signIn}>
          <Field
            label="User name"
            value={username}
            onChange={setUsername}
            autoComplete="username"
            isRequired
          />
          <Field
            label="Password"
            type="password"
            value={password}
            onChange={setPassword}
            autoComplete="current-password"
            isRequired
          />
          <Problem error={error} />
          <Busy isBusy={isWorking} what="Signing in" cancel={cancel} />
          <button className="main" disabled={isWorking}>
            Sign in
          </button>
        </form>
      </Page>
    </main>
  );
}
