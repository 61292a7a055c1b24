import { useEffect, useState } from 'react';
import { admin, onSessionOver } from './api/client.js';
import { KINDS, type Kind, type SignedIn } from './api/types.js';
import { useRoute } from './hooks/use-route.js';
import { SessionProvider } from './hooks/use-session.js';
import { Shell } from './shell.js';
import { Applications } from './views/applications.js';
import { AuditTrail } from './views/audit-trail.js';
import { Consumers } from './views/consumers.js';
import { Credentials } from './views/credentials.js';
import { Explorer } from './views/explorer.js';
import { NotFound } from './views/not-found.js';
import { Overview } from './views/overview.js';
import { Search } from './views/search.js';
import { ServiceEditor } from './views/service-editor.js';
import { Services } from './views/services.js';
import { SignIn } from './views/sign-in.js';
import { Watcher } from './views/watcher.js';

type Who = SignedIn | 'nobody' | 'over' | undefined;

/** The console: signing in, and then the page that the address names. */
export function App() {
  const [who, setWho] = useState<Who>();
  useEffect(() => {
    admin<SignedIn>('session').then(
      ({ body }) => setWho(body),
      () => setWho('nobody'),
    );
    return onSessionOver(() =>
      setWho((before) => (typeof before === 'object' ? 'over' : (before ?? 'nobody'))),
    );
  }, []);
  if (who === undefined) return null;
  if (typeof who === 'string') return <SignIn isOver={who === 'over'} onSignedIn={setWho} />;
  const signOut = () => {
    const done = () => setWho('nobody');
    admin('session', { method: 'DELETE' }).then(done, done);
  };
  return (
    <SessionProvider value={{ who, signOut }}>
      <Shell>
        <View />
      </Shell>
    </SessionProvider>
  );
}

function View() {
  const { names } = useRoute();
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
    case 'watcher':
      return <Watcher />;
    default:
      return <NotFound />;
  }
}

/** `applications`, then organization and application, kind and service. */
function ApplicationView({ names: [organizationid, appid, kind, name] }: { names: string[] }) {
  if (organizationid === undefined) return <Applications />;
  if (appid === undefined) return <NotFound />;
  const key = JSON.stringify([organizationid, appid, kind, name]);
  if (kind === undefined) return <Services key={key} organizationid={organizationid} appid={appid} />;
  if (!KINDS.includes(kind as Kind)) return <NotFound />;
  return <ServiceEditor key={key} {...{ organizationid, appid, kind: kind as Kind, name }} />;
}
