import { FatalError } from '../../../platform/common/index.js';
import {
  interfaceName,
  knownSchema,
  serviceSchema,
  typeScriptOf,
} from '../../../replication/schema/plain.js';
import { assertApplication, nameOfService } from '../../plain.js';
import type { Run } from '../command.js';
import type { schemaExport } from '../descriptions.js';
import { serviceKeyOf } from '../input.js';
import { asIs } from '../layout.js';
import { databaseOf } from '../session.js';

export const runExport: Run<typeof schemaExport> = async (context, { typescript, ...names }) => {
  const key = serviceKeyOf(names);
  const db = databaseOf(await context.connected());
  await assertApplication(db, key);
  const known = await knownSchema(db, key);
  if (known === undefined) throw new FatalError(`The ${nameOfService(key)} is not served.`);
  if (known === 'missing')
    throw new FatalError(
      `There is no sample of the ${nameOfService(key)} yet. A running instance takes one within seconds.`,
    );
  const schema = serviceSchema(known);
  if (!typescript) return { text: asIs(JSON.stringify(schema, undefined, 2)), json: schema };
  const { organizationid, appid, kind, name } = key;
  const about = `${schema.title} of ${organizationid}/${appid}, version ${schema['x-tidemark-version']} of the schema.`;
  const text = typeScriptOf(schema, interfaceName(kind, name), about);
  return { text: asIs(text.trimEnd()), json: { typescript: text } };
};
