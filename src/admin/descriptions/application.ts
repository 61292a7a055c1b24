import { describeCommand } from '../command.js';
import { APPLICATION } from '../options.js';

export const applicationCreate = describeCommand({
  name: 'application create',
  summary: 'Register an application',
  options: { ...APPLICATION, title: { value: 'TEXT', description: 'what people call it' } },
});

export const applicationList = describeCommand({
  name: 'application list',
  summary: 'Show the applications',
  options: {},
});

export const applicationRemove = describeCommand({
  name: 'application remove',
  summary: 'Remove an application and its services',
  options: { ...APPLICATION, purge: { description: 'remove its members and products too' } },
  notes: [
    'Without --purge an application that still has records is not removed.',
    'Consumers receive hard deletes only while the application exists: remove the records first ' +
      '(import --mirror, record delete), let every consumer harvest, then remove the application.',
  ],
});
