import { useSyncExternalStore } from 'react';
import { CONSOLE } from '../api/place.js';

const CHANGED = 'tidemark:route';

/** Where the page is: the names in its path below the console, and its query. */
export interface Route {
  names: string[];
  query: URLSearchParams;
}

/** Asked before the page is left; it calls `go` if that is to happen. */
type Keeper = (go: () => void) => void;

let keeper: Keeper | undefined;
/** What is shown: for a moment, Back has changed the address and nobody has been asked yet. */
let shown = hrefNow();
/** Which entry of the browser's history is shown, counted from the first one of this page. */
let entry = entryNow();
/** Changes of the history that are the page's own, and tell nothing. */
let isReturning = false;

/** Goes to a place of the console, if nobody holds the page back. */
export function goTo(path: string): void {
  leave(() => goOn(path));
}

/** Goes to a place of the console without a question: everything is saved. */
export function goOn(path: string): void {
  history.pushState({ entry: entry + 1 }, '', hrefOf(path));
  show();
  scrollTo(0, 0);
}

/** Does what takes the page away, if nobody holds it back. */
export function leave(go: () => void): void {
  if (keeper === undefined) go();
  else keeper(go);
}

/** Has `asked` decide whether the page is left, until the returned function is called. */
export function holdBack(asked: Keeper): () => void {
  keeper = asked;
  return () => {
    if (keeper === asked) keeper = undefined;
  };
}

/** The address of a place of the console; the home, `/`, has no slash at its end. */
export function hrefOf(path: string): string {
  return path === '/' ? CONSOLE : `${CONSOLE}${path}`;
}

export function useRoute(): Route {
  const href = useSyncExternalStore(listen, () => shown);
  const { pathname, searchParams } = new URL(href, location.origin);
  const names = pathname.slice(CONSOLE.length).split('/').filter(Boolean).map(decodeURIComponent);
  return { names, query: searchParams };
}

addEventListener('popstate', () => {
  const steps = entryNow() - entry;
  if (isReturning) isReturning = false;
  else if (keeper === undefined || steps === 0) show();
  else {
    isReturning = true;
    history.go(-steps);
    keeper(() => {
      keeper = undefined;
      history.go(steps);
    });
  }
});

function show(): void {
  shown = hrefNow();
  entry = entryNow();
  dispatchEvent(new Event(CHANGED));
}

function hrefNow(): string {
  return location.pathname + location.search;
}

function entryNow(): number {
  return (history.state as { entry?: number } | null)?.entry ?? 0;
}

function listen(changed: () => void): () => void {
  addEventListener(CHANGED, changed);
  return () => removeEventListener(CHANGED, changed);
}
