import { type ReactNode, useEffect, useRef, useState } from 'react';
import { admin, isSessionOver, onSessionOver, ServiceError } from './api/client.js';
import type { SignedIn } from './api/types.js';
import { leave, useRoute } from './hooks/use-route.js';
import { kindsOf, SessionProvider, useSession } from './hooks/use-session.js';
import { Boundary } from './parts/boundary.js';
import { Page } from './parts/page.js';
import { Problem } from './parts/problem.js';
import { Shell } from './shell.js';
import { Applications } from './views/applications.js';
import { AuditTrail } from './views/audit-trail.js';
import { Consumers } from './views/consumers.js';
import { Credentials } from './views/credentials.js';
import { Explorer } from './views/explorer.js';
import { Kinds } from './views/kinds.js';
import { NotFound } from './views/not-found.js';
import { Overview } from './views/overview.js';
import { Search } from './views/search.js';
import { ServiceEditor } from './views/service-editor.js';
import { Services } from './views/services.js';
import { SignIn } from './views/sign-in.js';
import { Watcher } from './views/watcher.js';

/**
 * The console: signing in, and then the page that the address names. When the session ends, the page is hidden and not taken
 * down, so that the same user finds what was typed there; another one gets a page of their own.
 */
export function App() {
  const [who, setWho] = useState<SignedIn | 'nobody'>();
  const [isOver, setIsOver] = useState(false);
  const [loadError, setLoadError] = useState<unknown>();
  const [signOutError, setSignOutError] = useState<unknown>();
  const signedIn = (user: SignedIn) => {
    setWho(user);
    setIsOver(false);
  };
  const load = () => {
    setLoadError(undefined);
    admin<SignedIn>('session').then(
      ({ body }) => signedIn(body),
      (error: unknown) => (isRefused(error) ? setWho('nobody') : setLoadError(error)),
    );
  };
  useEffect(() => {
    load();
    return onSessionOver(() => setIsOver(true));
  }, []);
  if (loadError !== undefined) return <NotLoaded error={loadError} again={load} />;
  if (who === undefined) return null;
  if (who === 'nobody') return <SignIn isOver={false} onSignedIn={signedIn} />;
  const signOut = () => {
    const done = () => setWho('nobody');
    const failed = (error: unknown) => (isSessionOver(error) ? done() : setSignOutError(error));
    setSignOutError(undefined);
    leave(() => void admin('session', { method: 'DELETE' }).then(done, failed));
  };
  const renew = () => {
    admin<SignedIn>('session').then(
      ({ body }) => setWho(body),
      () => undefined,
    );
  };
  return (
    <>
      <SessionProvider key={who.username} value={{ who, isOver, signOut, signOutError, renew }}>
        <Kept isHidden={isOver}>
          <Shell>
            <CurrentView />
          </Shell>
        </Kept>
      </SessionProvider>
      {isOver && <SignIn isOver onSignedIn={signedIn} />}
    </>
  );
}

/** Whether the request has no session, or one that may not use the console. Other errors leave this open. */
function isRefused(error: unknown): boolean {
  return error instanceof ServiceError && (error.status === 401 || error.status === 403);
}

function NotLoaded({ error, again }: { error: unknown; again: () => void }) {
  return (
    <main className="sign-in">
      <Page title="The console cannot be shown now">
        <Problem error={error} />
        <button className="main" onClick={again}>
          Try again
        </button>
      </Page>
    </main>
  );
}

/** A page that may be hidden for a while; when it comes back, its heading is told first. */
function Kept({ isHidden, children }: { isHidden: boolean; children: ReactNode }) {
  const place = useRef<HTMLDivElement>(null);
  const wasHidden = useRef(false);
  useEffect(() => {
    if (wasHidden.current && !isHidden) place.current?.querySelector('h1')?.focus();
    wasHidden.current = isHidden;
  }, [isHidden]);
  return (
    <div ref={place} hidden={isHidden}>
      {children}
    </div>
  );
}

/** The view that the address names. One that cannot be shown leaves the others as they are. */
function CurrentView() {
  const { names } = useRoute();
  const instead = (
    <div role="alert">
      <h1 tabIndex={-1}>This page cannot be shown</h1>
      <p>
        A document that another program has stored is in the way. The commands of <code>tidemark-admin</code>{' '}
        show it: <code>application list</code>, <code>service list</code>, <code>credential list</code>.
      </p>
    </div>
  );
  return (
    <Boundary key={names.join('/')} instead={instead}>
      <View names={names} />
    </Boundary>
  );
}

function View({ names }: { names: string[] }) {
  const [first, ...rest] = names;
  switch (first) {
    case undefined:
      return <Overview />;
    case 'applications':
      return <ApplicationView names={rest} />;
    case 'credentials':
      return <Credentials />;
    case 'consumers':
      return <Consumers />;
    case 'explorer':
      return <Explorer />;
    case 'search':
      return <Search />;
    case 'trail':
      return <AuditTrail />;
    case 'kinds':
      return <Kinds />;
    case 'watcher':
      return <Watcher />;
    default:
      return <NotFound />;
  }
}

/** `applications`, then organization and application, kind and service. */
function ApplicationView({ names: [organizationid, appid, kind, name] }: { names: string[] }) {
  const { who } = useSession();
  if (organizationid === undefined) return <Applications />;
  if (appid === undefined) return <NotFound />;
  const key = JSON.stringify([organizationid, appid, kind, name]);
  if (kind === undefined) return <Services key={key} organizationid={organizationid} appid={appid} />;
  if (!kindsOf(who, { organizationid, appid }).includes(kind)) return <NotFound />;
  return <ServiceEditor key={key} {...{ organizationid, appid, kind, name }} />;
}
