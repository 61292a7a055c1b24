import {
  assertApplication,
  filterInForce,
  filterOf,
  nameOfService,
  previewFilter,
  storedFilter,
} from '../../administration/plain.js';
import { FatalError } from '../../common/index.js';
import type { Run } from '../command.js';
import type { servicePreview } from '../descriptions/service.js';
import { kindOf, serviceKeyOf, tenantOf } from '../option-values.js';
import { previewLines } from '../preview-lines.js';
import { databaseOf } from '../session.js';

export const run: Run<typeof servicePreview> = async (context, { name, filter: text, ...names }) => {
  const of = { ...tenantOf(names), kind: kindOf(names) };
  if (text === undefined && name === undefined) throw new FatalError('Give --name or --filter.');
  const given = text === undefined ? undefined : await filterOf(text);
  const key = name === undefined ? undefined : serviceKeyOf({ ...names, name });
  const db = databaseOf(await context.connected());
  await assertApplication(db, of);
  const filter = given ?? (await storedFilter(db, key!));
  const inForce = given === undefined || key === undefined ? undefined : await filterInForce(db, key);
  const preview = await previewFilter(db, of, filter, { inForce, maxTimeMS: context.settings.queryMs });
  const lines = previewLines(preview, { ...of, filter });
  if (given !== undefined && key !== undefined && inForce === undefined)
    lines.push(`No filter of ${nameOfService(key)} has been in force yet: no record enters or leaves.`);
  return { text: lines.join('\n'), json: preview };
};
