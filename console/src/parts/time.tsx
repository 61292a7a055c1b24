import { ago, moment } from './format.js';

/** How long ago, and exactly when for whoever points at it. */
export function Time({ at }: { at: string | null | undefined }) {
  if (at === null || at === undefined) return <span className="faint">never</span>;
  return (
    <time dateTime={at} title={moment(at)}>
      {ago(at)}
    </time>
  );
}
