import { describeCommand } from './command.js';

export const consumerList = describeCommand({
  name: 'consumer list',
  summary: 'Show how the consumers do, those furthest behind first',
  options: {
    org: { value: 'ORG', description: 'of this organization only' },
    app: { value: 'APP', description: 'of this application only' },
  },
  notes: [
    'current: has read to the end. behind: reads, and is not there yet. stalled: has stopped calling.',
    'looping: begins the same window again and again. never finished: never read a window to its end.',
    'must start over: hard deletes that it needs have expired, or the database was restored.',
  ],
});

export const status = describeCommand({
  name: 'status',
  summary: 'Show the database, its indexes, the watcher, what it did, and duplicate e-mails',
  options: {},
});

export const check = describeCommand({
  name: 'check',
  summary: 'Try settings, database, roles, indexes, clocks and the watcher, and change nothing',
  options: {},
  notes: ['One line for each: ok, warning or failed. Exit code 1 if one has failed.'],
});
