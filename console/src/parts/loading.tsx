import type { ReactNode } from 'react';
import type { Loaded } from '../hooks/use-loaded.js';
import { Busy } from './busy.js';
import { Problem } from './problem.js';

/** Shows what was loaded, or how loading does. */
export function Loading<T>({
  of: { data, error, isLoading, cancel, reload },
  what,
  children,
}: {
  of: Loaded<T>;
  what: string;
  children: (data: T) => ReactNode;
}) {
  const isStopped = data === undefined && error === undefined && !isLoading;
  return (
    <>
      <Problem error={error} />
      <Busy isBusy={isLoading && data === undefined} what={`Loading ${what}`} cancel={cancel} />
      {isStopped && (
        <p>
          Loading was cancelled. <button onClick={reload}>Load {what}</button>
        </p>
      )}
      {data !== undefined && children(data)}
    </>
  );
}
