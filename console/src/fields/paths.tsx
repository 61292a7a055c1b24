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
