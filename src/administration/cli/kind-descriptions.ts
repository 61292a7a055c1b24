import { describeCommand } from './command.js';

const NAME = {
  value: 'NAME',
  required: true,
  description: 'its name, as in the paths, such as order',
} as const;

export const kindCreate = describeCommand({
  name: 'kind create',
  summary: 'Serve the records of another collection, as a kind of their own',
  options: {
    name: NAME,
    collection: {
      value: 'NAME',
      required: true,
      description: 'the collection of its records, such as orders',
    },
    plural: { value: 'TEXT', description: 'several records, in texts for people; else the name with an s' },
    id: { value: 'FIELD', description: 'the field that holds the id; else id' },
    lastupdated: { value: 'FIELD', description: 'the field that holds the stamp; else lastupdated' },
    org: { value: 'ORG', description: 'the organization of all records, if they do not name theirs' },
    app: { value: 'APP', description: 'the application of all records, if they do not name theirs' },
    channels: { description: 'the field channels holds the channels of a record' },
    'without-data': { description: 'the records have no field data: all other fields are their data' },
  },
  notes: [
    'Every instance knows it within two seconds. Its feeds answer 503 until its records have been read once ("kind list").',
    'A kind is not edited: remove it and create it again.',
  ],
});

export const kindList = describeCommand({
  name: 'kind list',
  summary: 'Show the kinds of records, and which are served',
  options: {},
  notes: [
    'ready: served. preparing: its records are being read for the first time. not valid: its document cannot be used.',
  ],
});

export const kindRemove = describeCommand({
  name: 'kind remove',
  summary: 'Stop serving the records of a kind',
  options: {
    name: NAME,
    purge: { description: 'remove its services, and the notes about its consumers, too' },
  },
  notes: [
    'Its records stay, and so does the ledger: a kind that is created again loses no change, and delivers its records again.',
    'Without --purge a kind that has services, or that consumers have read, is not removed.',
  ],
});
