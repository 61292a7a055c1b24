import type { MouseEvent, ReactNode } from 'react';
import { goTo, hrefOf } from '../hooks/use-route.js';

/** A link to a place of the console, which needs no page from the service. */
export function Link({ to, children, current }: { to: string; children: ReactNode; current?: boolean }) {
  const follow = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    goTo(to);
  };
  return (
    <a href={hrefOf(to)} onClick={follow} aria-current={current === true ? 'page' : undefined}>
      {children}
    </a>
  );
}
