import type { Service } from '../api/types.js';
import { shownFieldsOf } from './shown-fields.js';

const MOST_PATHS = 3;

/** In short, which fields a service shows, such as `all except data.email; hashed: data.accountnumber`. */
export function FieldsSummary({ of }: { of: Service }) {
  const shown = shownFieldsOf(of);
  if (shown === undefined) return <span className="bad">cannot be read; nothing is delivered</span>;
  const { extent, paths, hash } = shown;
  return (
    <span>
      {extent === 'all' && 'all'}
      {extent === 'except' && (
        <>
          all except <Paths of={paths} most={MOST_PATHS} />
        </>
      )}
      {extent === 'only' &&
        (paths.length === 0 ? (
          'none of data'
        ) : (
          <>
            only <Paths of={paths} most={MOST_PATHS} />
          </>
        ))}
      {hash.length > 0 && (
        <>
          ; hashed: <Paths of={hash} most={MOST_PATHS} />
        </>
      )}
    </span>
  );
}

/** The first ones of some paths, and how many more there are. */
export function Paths({ of, most }: { of: string[]; most: number }) {
  const more = of.length - most;
  return (
    <>
      {of.slice(0, most).map((path, index) => (
        <span key={path}>
          {index > 0 && ', '}
          <code>{path}</code>
        </span>
      ))}
      {more > 0 && ` and ${more} more`}
    </>
  );
}
