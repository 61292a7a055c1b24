import type { Group, Preview } from '../api/types.js';
import { count, howMany, many } from '../parts/format.js';
import { PlanLine, type Tried } from './plan-line.js';

/** What an edit would do, beside the form. */
export function PreviewPanel({
  preview,
  tried,
  isServed,
}: {
  preview: Preview;
  /** The filter; undefined for a service that has none. */
  tried: Tried | undefined;
  isServed: boolean;
}) {
  const { records, matching, others, entering, leaving, concerned, restamps, error, isCutOff, warnings } =
    preview;
  const moved = isServed ? 'Saving it delivers' : 'Saving it, and then enabling it, delivers';
  return (
    <>
      {tried && (
        <p className="big">
          {matching.count === null ? 'An unknown number' : count(matching.count)} of{' '}
          {howMany(records, 'record')} match
        </p>
      )}
      {tried && matching.count !== null && records !== null && (
        <meter
          value={records === 0 ? 0 : matching.count / records}
          aria-label="Share of records that match"
        />
      )}
      {warnings.map(({ path, detail }) => (
        <p className="notice" key={path}>
          <code>{path}</code>: {detail}
        </p>
      ))}
      {error !== undefined && (
        <p className="notice">
          Counting took too long. These are estimates from a random sample: 95 of 100 such numbers are right
          to {many(error, 'record')}.
        </p>
      )}
      {isCutOff && (
        <p className="notice">
          It was cut off before everything was found. The command <code>service preview</code> may take
          longer.
        </p>
      )}
      {entering !== undefined && leaving !== undefined && (
        <p>
          {restamps === 0 ? 'Saving it moves no record.' : `${moved} ${howMany(restamps, 'record')} again.`}
        </p>
      )}
      <dl className="groups">
        <Ids title="Would show other fields" group={concerned} />
        {tried && (
          <>
            <Ids title="Would enter" group={entering} />
            <Ids title="Would leave" group={leaving} />
            <Ids title="Match" group={matching} />
            <Ids title="Do not match" group={others} />
          </>
        )}
      </dl>
      {tried && <PlanLine plan={preview.plan} tried={tried} />}
    </>
  );
}

function Ids({ title, group }: { title: string; group: Group | undefined }) {
  if (group === undefined) return null;
  const more = group.count === null ? 0 : group.count - group.ids.length;
  return (
    <div>
      <dt>
        {title} <strong>{group.count === null ? 'unknown' : count(group.count)}</strong>
        {group.error !== undefined && <span className="faint"> ± {count(group.error)}</span>}
      </dt>
      <dd>
        {group.ids.map((id) => (
          <code key={id}>{id}</code>
        ))}
        {more > 0 && group.ids.length > 0 && <span className="faint"> and {count(more)} more</span>}
      </dd>
    </div>
  );
}
