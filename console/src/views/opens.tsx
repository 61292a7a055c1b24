import { ServiceError } from '../api/client.js';
import type { SignedIn, Tenant } from '../api/types.js';
import { useSession } from '../hooks/use-session.js';
import { Choice, Field } from '../parts/field.js';

/** What stands for every name in a scope. */
const EVERY = '*';
const EXTENTS = ['application', 'organization', 'everything'] as const;
type Extent = (typeof EXTENTS)[number];
const EXTENT_WORDS: Record<Extent, string> = {
  application: 'one application',
  organization: 'every application of one organization',
  everything: 'every application of every organization',
};
const WARNING: Record<Exclude<Extent, 'application'>, string> = {
  organization: 'It opens every application of the organization, including those that are registered later.',
  everything: 'It opens every application of every organization, including those that are registered later.',
};

/** What a new credential opens, as it is chosen: the names count as far as the extent asks for them. */
interface Opens extends Tenant {
  extent: Extent;
}

export const NOTHING_OPENED: Opens = { extent: 'application', organizationid: '', appid: '' };

export function OpensFields({ of, onChange }: { of: Opens; onChange: (part: Partial<Opens>) => void }) {
  const { who } = useSession();
  const { extent } = of;
  const extents = extentsFor(who);
  return (
    <>
      {extents.length > 1 && (
        <Choice
          label="Opens"
          value={extent}
          choices={extents}
          words={(one) => EXTENT_WORDS[one]}
          onChange={(one) => onChange({ extent: one })}
        />
      )}
      {extent !== 'everything' && (
        <Field
          label="Organization"
          value={of.organizationid}
          onChange={(organizationid) => onChange({ organizationid })}
          isRequired
        />
      )}
      {extent === 'application' && (
        <Field label="Application" value={of.appid} onChange={(appid) => onChange({ appid })} isRequired />
      )}
    </>
  );
}

export function OpensWarning({ extent }: { extent: Extent }) {
  if (extent === 'application') return null;
  return (
    <p className="notice" role="status">
      {WARNING[extent]}
    </p>
  );
}

/** What the session may give: no more than it has. */
function extentsFor({ scopes, coversAll }: SignedIn): Extent[] {
  const hasOrganization = scopes.some(({ appid }) => appid === EVERY);
  return EXTENTS.filter(
    (extent) => extent === 'application' || (extent === 'organization' && hasOrganization) || coversAll,
  );
}

/** The scope that was chosen. Throws where a name is `*`, which only the choice may mean. */
export function scopeOf({ extent, organizationid, appid }: Opens): Tenant {
  if (extent === 'everything') return { organizationid: EVERY, appid: EVERY };
  assertName('Organization', organizationid);
  if (extent === 'organization') return { organizationid, appid: EVERY };
  assertName('Application', appid);
  return { organizationid, appid };
}

function assertName(label: string, name: string): void {
  if (name.trim() !== EVERY) return;
  const detail = `${label} must be the name of one, such as "acme"; "*" is not a name.`;
  throw new ServiceError(400, 'The credential is not issued', detail);
}
