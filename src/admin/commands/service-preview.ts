import {
  assertApplication,
  filterInForce,
  filterOf,
  nameOfService,
  previewFilter,
  storedFilter,
} from '../../administration/plain.js';
import { FatalError } from '../../common/index.js';
import { defineCommand } from '../command.js';
import { APPLICATION, KIND, kindOf, serviceKeyOf, tenantOf } from '../options.js';
import { previewLines } from '../preview-lines.js';
import { databaseOf } from '../session.js';

export const servicePreview = defineCommand({
  name: 'service preview',
  summary: 'Count the records that a filter matches, and who would enter and leave a service',
  options: {
    ...APPLICATION,
    ...KIND,
    name: { value: 'NAME', description: 'the service that is looked at, or that would get the filter' },
    filter: { value: 'JSON|@FILE', description: 'a filter to try, stored nowhere' },
  },
  notes: [
    'It tells whether an index serves the filter, and which one to make if none does ("service index").',
    'Where exact counts take longer than QUERY_MS, a random sample is looked at, and its error is told; where that takes',
    'as long again, what is known by then.',
  ],
  async run(context, { name, filter: text, ...names }) {
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
  },
});
