import { describeCommand } from '../command.js';
import { APPLICATION, KIND, RECORD } from '../options.js';

export const importCommand = describeCommand({
  name: 'import',
  summary: 'Import records from a file, or from stdin (-)',
  argument: 'FILE.ndjson|-',
  options: {
    ...APPLICATION,
    ...KIND,
    mirror: { description: 'remove the records that the file lacks, if every line was good' },
    strict: { description: 'stop at the first bad line; what was imported before it stays' },
    'dry-run': { description: 'write nothing, and tell what would be made, changed and removed' },
  },
  notes: [
    'Each line is a JSON object {id, data, channels?, type?, createDate?, createdBy?}.',
    'Records are found by id; what a line leaves out stays as it is.',
    'A record that is equal already is left alone; any other gets a new lastupdated.',
    'A bad line is reported on stderr with its number, and the others are imported; the exit code is then 1.',
    'A line that seems to be of the other kind is a bad one: a member without data.accountnumber, a product with data.accountnumber and data.email. A "type" that names the kind says otherwise.',
    'Values stay what JSON makes of them: dates are texts, and whole numbers beyond 2^53 lose digits.',
  ],
});

export const recordDelete = describeCommand({
  name: 'record delete',
  summary: 'Delete one record, or those of a list; consumers learn it from harddeletes',
  options: {
    ...APPLICATION,
    ...KIND,
    id: { value: 'ID', description: 'id of the record, as in the feeds' },
    'ids-from': { value: 'FILE|-', description: 'a file with one id a line, or stdin (-)' },
    'dry-run': { description: 'delete nothing, and tell what would be deleted' },
  },
  notes: [
    'Give either --id or --ids-from. Ids are taken as they stand in the list, blanks included; blank lines are left out.',
    'Ids that do not exist are reported on stderr, and the others are deleted; the exit code is then 1.',
  ],
});

export const recordShow = describeCommand({
  name: 'record show',
  summary: 'Show whether a record is alive or gone, and which services match it',
  options: RECORD,
});

export const recordHistoryCommand = describeCommand({
  name: 'record history',
  summary: 'Show when and why a record was stamped anew, so that consumers received it again',
  options: RECORD,
  notes: [
    'The newest 100 re-stamps of the record that stands under the id now, and of its hard delete, newest first. They are',
    'noted within a second, and kept for as many days as RESTAMP_HISTORY_DAYS says.',
  ],
});
