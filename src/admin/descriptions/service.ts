import { describeCommand } from '../command.js';
import { SERVICE, APPLICATION, KIND } from '../options.js';

export const serviceSet = describeCommand({
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
});

export const serviceList = describeCommand({
  name: 'service list',
  summary: 'Show the services with their filters',
  options: {
    org: { value: 'ORG', description: 'of this organization only' },
    app: { value: 'APP', description: 'of this application only' },
    kind: { value: 'member|product', description: 'of this kind only' },
  },
});

export const serviceRemove = describeCommand({
  name: 'service remove',
  summary: 'Remove a service',
  options: SERVICE,
});

export const servicePreview = describeCommand({
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
    'Where exact counts take longer than QUERY_MS, a random sample is judged, and its error is shown; where that takes',
    'as long again, what is known by then.',
  ],
});

export const serviceIndex = describeCommand({
  name: 'service index',
  summary: 'Make the index that serves a filter, while everything goes on',
  options: {
    ...APPLICATION,
    ...KIND,
    name: { value: 'NAME', description: 'the service whose filter is to be served' },
    filter: { value: 'JSON|@FILE', description: 'or a filter' },
    'dry-run': { description: 'only tell which index would be made' },
  },
  notes: [
    'It is over one field of the filter, and over the records of all applications: each write of a record keeps it up to',
    'date. A value of megabytes in that field makes such writes slow.',
    'Ctrl-C ends the watching only: the database goes on with it.',
  ],
});
