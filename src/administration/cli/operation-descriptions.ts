import { APPLICATION, describeCommand, RECORD } from './command.js';
import { PROGRAM, SHELLS } from './completion.js';

export const recordErase = describeCommand({
  name: 'record erase',
  summary: 'Delete a record and every trace of it, and show which consumers have received that',
  options: {
    ...RECORD,
    wait: {
      value: 'SECONDS',
      description: 'how long to wait for the watcher and the consumers, 0 to 3600; default: 30',
    },
  },
  notes: [
    'The hard delete with its id remains, since consumers need it; the receipt holds nothing of the record.',
    'A record that is already gone is cleaned up in the same way.',
    'open: the consumer has not read the hard delete. delivered: it has. returned: it has then requested a later ' +
      'window. proven: it has then compared a digest.',
    'Exit code 3 if, when the wait is over, a consumer is open or delivered, or the deletion is not processed yet.',
  ],
});

export const recordErasures = describeCommand({
  name: 'record erasures',
  summary: 'Show the erasures of an application, or one of them with its consumers',
  options: {
    ...APPLICATION,
    id: { value: 'ID', description: 'only those of this id; finds them only while the service knows the id' },
    receipt: { value: 'RECEIPT', description: 'one erasure, with its consumers' },
  },
  notes: [
    'The newest 100 of the last AUDIT_TRAIL_DAYS days. Their states are computed anew each time.',
    'With --receipt, the exit code is 3 in the same cases as that of "record erase".',
  ],
});

export const consumerList = describeCommand({
  name: 'consumer list',
  summary: 'Show the states of the consumers, those furthest behind first',
  options: {
    org: { value: 'ORG', description: 'of this organization only' },
    app: { value: 'APP', description: 'of this application only' },
  },
  notes: [
    'current: has read to the end. behind: reads, but has not reached the end yet. stalled: has stopped calling.',
    'looping: begins the same window again and again. never finished: never read a window to its end.',
    'must start over: hard deletes that it needs have expired, or the database was restored.',
  ],
});

export const status = describeCommand({
  name: 'status',
  summary: 'Show the database, its indexes, the watcher, what it did, kinds, and duplicate e-mails',
  options: {},
});

export const check = describeCommand({
  name: 'check',
  summary: 'Check settings, database, roles, indexes, clocks, watcher and kinds; change nothing',
  options: {},
  notes: ['One line for each: ok, warning or failed. Exit code 1 if one has failed.'],
});

export const restored = describeCommand({
  name: 'restored',
  summary: 'Tell consumers that the database was restored from a backup',
  options: {
    backup: {
      value: 'TIME',
      description: 'a time before the backup was begun; required if an instance has run since the restore',
    },
  },
  notes: [
    'Run it after the restore, before an instance is started.',
    'Consumers that have read beyond the backup get 410 source-restored, and begin again. All others go on.',
  ],
});

export const upgradeFinish = describeCommand({
  name: 'upgrade finish',
  summary: 'Put the newest storage format in force, once no instance of an older version runs',
  options: { yes: { description: 'do not ask first' } },
  notes: [
    'Until then, the older version can be started again. Afterwards, its instances stop and refuse to start.',
  ],
});

export const completion = describeCommand({
  name: 'completion',
  summary: 'Print a script that completes command lines in bash or zsh',
  argument: SHELLS.join('|'),
  options: {},
  notes: [
    `It completes the programs tidemark and ${PROGRAM}. If the shell does not find ${PROGRAM}, define an alias:`,
    (admin) => `  alias ${PROGRAM}='${admin}'`,
    `  source <(${PROGRAM} completion bash)`,
    'In zsh, run compinit first. To complete another name too: complete -F _tidemark_admin NAME (bash), ' +
      'compdef _tidemark_admin NAME (zsh).',
  ],
});

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
    plural: { value: 'TEXT', description: 'the plural, for messages; default: the name with an s' },
    id: { value: 'FIELD', description: 'the field that contains the id; default: id' },
    lastupdated: { value: 'FIELD', description: 'the field that contains the stamp; default: lastupdated' },
    org: { value: 'ORG', description: 'the organization of all records, if they do not name theirs' },
    app: { value: 'APP', description: 'the application of all records, if they do not name theirs' },
    channels: { description: 'the records have their channels in the field "channels"' },
    'without-data': { description: 'the records have no field data: all other fields are their data' },
  },
  notes: [
    'Every instance knows the kind within two seconds. Its feeds answer 503 until the first pass over its records ' +
      'has ended ("kind list").',
    'A kind cannot be edited: remove it and create it again.',
  ],
});

export const kindList = describeCommand({
  name: 'kind list',
  summary: 'Show the kinds of records, and which are served',
  options: {},
  notes: [
    'ready: served. preparing: a pass over its records has not ended. not valid: its document cannot be used.',
  ],
});

export const kindRemove = describeCommand({
  name: 'kind remove',
  summary: 'Stop serving the records of a kind',
  options: {
    name: NAME,
    purge: { description: 'also remove its services and the states of its consumers' },
  },
  notes: [
    'Its records stay, and so does the ledger: a kind that is created again loses no change, and delivers its records again.',
    'Without --purge a kind that has services, or that consumers have read, is not removed.',
  ],
});
