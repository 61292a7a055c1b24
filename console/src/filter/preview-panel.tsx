import type { Group, Preview } from '../api/types.js';
import { count, many } from '../parts/format.js';

/** What a filter would do, beside the editor. */
export function PreviewPanel({ preview }: { preview: Preview }) {
  const { records, matching, others, entering, leaving, restamps, error } = preview;
  const share = records === 0 ? 0 : matching.count / records;
  return (
    <>
      <p className="big">
        {count(matching.count)} of {many(records, 'record')} match
      </p>
      <meter value={share} aria-label="Share of records that match" />
      {error !== undefined && (
        <p className="notice">
          Counting took too long. These are estimates from a random sample: 95 of 100 such estimates lie
          within {many(error, 'record')} of the truth.
        </p>
      )}
      {entering !== undefined && leaving !== undefined && (
        <p>
          {restamps === 0
            ? 'Saving it moves no record.'
            : `Saving it delivers ${many(restamps, 'record')} again.`}
        </p>
      )}
      <dl className="groups">
        <Ids title="Would enter" group={entering} />
        <Ids title="Would leave" group={leaving} />
        <Ids title="Match" group={matching} />
        <Ids title="Do not match" group={others} />
      </dl>
    </>
  );
}

function Ids({ title, group }: { title: string; group: Group | undefined }) {
  if (group === undefined) return null;
  const more = group.count - group.ids.length;
  return (
    <div>
      <dt>
        {title} <strong>{count(group.count)}</strong>
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
