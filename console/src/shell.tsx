import { type FormEvent, type ReactNode, useState } from 'react';
import { goTo, useRoute } from './hooks/use-route.js';
import { useSession } from './hooks/use-session.js';
import { Link } from './parts/link.js';
import { Problem } from './parts/problem.js';

const PLACES: [path: string, name: string][] = [
  ['', 'Overview'],
  ['applications', 'Applications'],
  ['credentials', 'Credentials'],
  ['consumers', 'Consumers'],
  ['explorer', 'Explore a feed'],
  ['search', 'Find a record'],
  ['trail', 'Audit trail'],
];
/** They are about all applications. */
const ABOVE: typeof PLACES = [
  ['kinds', 'Kinds'],
  ['watcher', 'Watcher'],
];

/** What stands around every page. */
export function Shell({ children }: { children: ReactNode }) {
  const { names } = useRoute();
  const { who, signOut, signOutError } = useSession();
  const places = who.coversAll ? [...PLACES, ...ABOVE] : PLACES;
  const skip = () => document.querySelector<HTMLElement>('main')?.focus();
  return (
    <div className="shell">
      <button className="skip" onClick={skip}>
        Skip to the content
      </button>
      <header>
        <p className="brand">Tidemark</p>
        <Find />
        <p className="who">
          {who.username}{' '}
          <button type="button" onClick={signOut}>
            Sign out
          </button>
        </p>
      </header>
      <nav aria-label="Pages">
        <ul>
          {places.map(([path, name]) => (
            <li key={path}>
              <Link to={`/${path}`} current={(names[0] ?? '') === path}>
                {name}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <main tabIndex={-1}>
        {signOutError !== undefined && (
          <p role="alert" className="notice">
            You may still be signed in.
          </p>
        )}
        <Problem error={signOutError} />
        {children}
      </main>
      <footer>Tidemark {who.version}</footer>
    </div>
  );
}

/** The one search field: an id is looked for in every application that the session covers. */
function Find() {
  const [id, setId] = useState('');
  const find = (event: FormEvent) => {
    event.preventDefault();
    if (id !== '') goTo(`/search?id=${encodeURIComponent(id)}`);
  };
  return (
    <form className="find" onSubmit={find} role="search" aria-label="Find a record">
      <input
        type="search"
        aria-label="Id of a record"
        placeholder="Find a record by its id"
        value={id}
        onChange={(event) => setId(event.target.value)}
      />
    </form>
  );
}
