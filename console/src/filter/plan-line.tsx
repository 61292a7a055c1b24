import type { FilterPlan, Service } from '../api/types.js';
import { quoted } from '../parts/quoted.js';

/** A longer filter is not repeated in a line to copy. */
const LONGEST_FILTER = 500;

/** A filter that was tried, and on whose records. */
export type Tried = Pick<Service, 'organizationid' | 'appid' | 'kind'> & { filter: object | undefined };

/** Whether an index serves a filter, and how to make one. */
export function PlanLine({ plan, tried }: { plan: FilterPlan | null; tried: Tried }) {
  if (plan === null || (!plan.readsEveryRecord && plan.indexes.length === 0)) return null;
  if (!plan.readsEveryRecord)
    return (
      <p>
        Served by {plan.indexes.length === 1 ? 'the index' : 'the indexes'} <Names of={plan.indexes} />
      </p>
    );
  return (
    <>
      <p>
        No index serves it: every record is read.
        {plan.advice !== null && ' This makes one, while everything goes on:'}
      </p>
      {plan.advice !== null && (
        <pre tabIndex={0} role="region" aria-label="Command: make the index">
          {indexCommand(tried)}
        </pre>
      )}
    </>
  );
}

function Names({ of }: { of: string[] }) {
  return of.map((name, index) => (
    <span key={name}>
      {index > 0 && ', '}
      <code>{name}</code>
    </span>
  ));
}

function indexCommand({ organizationid, appid, kind, filter }: Tried): string {
  const text = JSON.stringify(filter ?? {});
  const given = text.length > LONGEST_FILTER ? '@FILE' : quoted(text);
  return `tidemark admin service index --org ${organizationid} --app ${appid} --kind ${kind} --filter ${given}`;
}
