import { admin, pathOf } from '../api/client.js';
import type { SchemaChange, ServiceSchema, Tenant } from '../api/types.js';
import { useLoaded } from '../hooks/use-loaded.js';
import { many } from '../parts/format.js';
import { Loading } from '../parts/loading.js';
import { type Column, Table } from '../parts/table.js';
import { Time } from '../parts/time.js';

const EVERY_MS = 10_000;

export const SCHEMA_WORDS: Record<SchemaChange['change'], string> = {
  ...{ appeared: 'appeared', vanished: 'vanished', type: 'changed its type' },
};

const COLUMNS: Column<SchemaChange>[] = [
  { title: 'Field', cell: ({ path }) => <code>{path}</code> },
  { title: 'What', cell: ({ change }) => SCHEMA_WORDS[change] ?? change },
  {
    title: 'Types',
    cell: ({ from, to }) => [from, to].flatMap((types) => types?.join(' or ') ?? []).join(' → '),
  },
  { title: 'When', cell: ({ at }) => <Time at={at} /> },
  { title: 'Version', isNumber: true, cell: ({ version }) => version },
];

/** What the items of a service look like, and what has changed of that. */
export function SchemaSection({
  organizationid,
  appid,
  kind,
  name,
}: Tenant & { kind: string; name: string }) {
  const path = `applications/${pathOf(organizationid, appid)}/services/${pathOf(kind, name)}/schema`;
  const loaded = useLoaded(
    path,
    async (signal, isPoll) => (await admin<ServiceSchema>(path, { signal, isPoll })).body,
    EVERY_MS,
  );
  return (
    <section className="card" aria-label="Schema">
      <h2>Schema</h2>
      <Loading of={loaded} what="the schema">
        {(schema) => {
          const { count, sample } = schema['x-tidemark-records'];
          return (
            <>
              <p>
                Version {schema['x-tidemark-version']}, from {sample ? 'a sample of ' : ''}
                {many(count, 'record')}. Consumers read it at{' '}
                <code>
                  /{organizationid}/{appid}/api/v1/{kind}/{name}/schema
                </code>
                .
              </p>
              <Table
                caption="Changes of the schema"
                rows={schema['x-tidemark-changes']}
                nameOf={({ version, path: field, change }) => JSON.stringify([version, field, change])}
                empty="No field has appeared, vanished or changed its type since the service was edited last."
                columns={COLUMNS}
              />
            </>
          );
        }}
      </Loading>
    </section>
  );
}
