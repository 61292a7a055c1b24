import { useSyncExternalStore } from 'react';

const BASE = '/console';
const CHANGED = 'tidemark:route';

/** Where the page is: the names in its path below `/console`, and its query. */
export interface Route {
  names: string[];
  query: URLSearchParams;
}

/** Goes to a place of the console. */
export function goTo(path: string): void {
  history.pushState(null, '', `${BASE}${path}`);
  dispatchEvent(new Event(CHANGED));
  scrollTo(0, 0);
}

export function hrefOf(path: string): string {
  return `${BASE}${path}`;
}

export function useRoute(): Route {
  const href = useSyncExternalStore(listen, () => location.pathname + location.search);
  const { pathname, searchParams } = new URL(href, location.origin);
  const names = pathname.slice(BASE.length).split('/').filter(Boolean).map(decodeURIComponent);
  return { names, query: searchParams };
}

function listen(changed: () => void): () => void {
  const events = ['popstate', CHANGED];
  events.forEach((event) => addEventListener(event, changed));
  return () => events.forEach((event) => removeEventListener(event, changed));
}
