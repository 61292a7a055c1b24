import { assertApplication } from '../applications.js';
import { defineCommand } from '../command.js';
import { filterJson, filterOf } from '../filter-text.js';
import { SERVICE, serviceKeyOf } from '../options.js';
import { nameOfService, setService } from '../services.js';
import { databaseOf } from '../session.js';

export const serviceSet = defineCommand({
  name: 'service set',
  summary: 'Register a service, or give it another filter',
  options: {
    ...SERVICE,
    filter: { value: 'JSON|@FILE', required: true, description: 'MongoDB query, matched against the record' },
    description: { value: 'TEXT', description: 'what the service is for' },
  },
  notes: [
    'The filter is extended JSON, so that dates and ObjectIds can be written:',
    `  --filter '{"data.datasource": "erp", "createDate": {"$gte": {"$date": "2026-01-01T00:00:00Z"}}}'`,
    'MongoDB runs it before it is stored; a filter that it refuses is an error.',
  ],
  async run(context, { filter: text, description, ...names }) {
    const key = serviceKeyOf(names);
    const filter = await filterOf(text);
    const db = databaseOf(await context.prepared());
    await assertApplication(db, key);
    await setService(db, key, filter, description);
    return { text: `The ${nameOfService(key)} is set.`, json: { ...key, filter: filterJson(filter) } };
  },
});
