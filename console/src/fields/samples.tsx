import type { Sample } from '../api/types.js';
import { differingFields, type Row, rowsBetween, shortened } from './difference.js';
import { Paths } from './fields-summary.js';

const MOST_FIELDS = 5;

/** Records that are delivered again, each as it is delivered before and after. */
export function Samples({ of }: { of: Sample[] }) {
  if (of.length === 0) return null;
  return (
    <section className="card whole-row" aria-labelledby="samples">
      <h2 id="samples">Records before and after</h2>
      {of.map((sample) => (
        <SampleSides key={sample.id} of={sample} />
      ))}
    </section>
  );
}

function SampleSides({ of: { id, before, after } }: { of: Sample }) {
  const isInBoth = before !== null && after !== null;
  const rows = rowsBetween(before ?? after, after ?? before);
  const fields = differingFields(rows);
  const short = shortened(rows);
  return (
    <>
      <h3>
        <code>{id}</code>
      </h3>
      {isInBoth && fields.length > 0 && (
        <p>
          Differs in <Paths of={fields} most={MOST_FIELDS} />
        </p>
      )}
      {isInBoth && fields.length === 0 && <p>No field that is shown differs.</p>}
      <div className="sides">
        <div>
          <h4>Before</h4>
          {before === null ? (
            <p className="faint">It is not in the updates.</p>
          ) : (
            <pre tabIndex={0} role="region" aria-label={`Before: ${id}`}>
              {linesOf(short, 'before', 'del')}
            </pre>
          )}
        </div>
        <div>
          <h4>After</h4>
          {after === null ? (
            <p className="faint">It leaves the updates.</p>
          ) : (
            <pre tabIndex={0} role="region" aria-label={`After: ${id}`}>
              {linesOf(short, 'after', 'ins')}
            </pre>
          )}
        </div>
      </div>
    </>
  );
}

function linesOf(rows: Row[], side: 'before' | 'after', different: 'del' | 'ins') {
  return rows
    .filter((row) => row[side] !== undefined)
    .map(({ [side]: text, path }, index) => {
      const Mark = path === undefined ? 'span' : different;
      return <Mark key={index}>{text}</Mark>;
    });
}
