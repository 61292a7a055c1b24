import { ago, moment } from './format.js';

/** How long ago, and exactly when in its tooltip. */
export function Time({ at }: { at: string | null | undefined }) {
  if (at === null || at === undefined) return <span className="faint">never</span>;
  // Other programs write credentials too.
  if (Number.isNaN(Date.parse(at))) return <span className="faint">not a date</span>;
  return (
    <time dateTime={at} title={moment(at)}>
      {ago(at)}
    </time>
  );
}
