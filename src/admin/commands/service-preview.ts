import { count, FatalError } from '../../common/index.js';
import { assertApplication } from '../applications.js';
import { defineCommand } from '../command.js';
import { filterOf } from '../filter-text.js';
import { APPLICATION, KIND, kindOf, serviceKeyOf, tenantOf } from '../options.js';
import { previewFilter, storedFilter } from '../services.js';
import { databaseOf } from '../session.js';

export const servicePreview = defineCommand({
  name: 'service preview',
  summary: 'Count the records that a filter matches, and show some of their ids',
  options: {
    ...APPLICATION,
    ...KIND,
    name: { value: 'NAME', description: 'the service whose filter is tried, unless --filter gives one' },
    filter: { value: 'JSON|@FILE', description: 'a filter to try, stored nowhere' },
  },
  async run(context, { name, filter: text, ...names }) {
    const of = { ...tenantOf(names), kind: kindOf(names) };
    if (text === undefined && name === undefined) throw new FatalError('Give --name or --filter.');
    const given = text === undefined ? undefined : await filterOf(text);
    const db = databaseOf(await context.connected());
    await assertApplication(db, of);
    const filter = given ?? (await storedFilter(db, serviceKeyOf({ ...names, name: name ?? '' })));
    const preview = await previewFilter(db, of, filter, context.settings.queryMs);
    const { matching, records, ids } = preview;
    const first = ids.length === 0 ? '' : `\nThe first of them: ${ids.join(', ')}`;
    return { text: `${count(matching)} of ${count(records)} ${of.kind}s match.${first}`, json: preview };
  },
});
