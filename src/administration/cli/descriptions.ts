import {
  APPLICATION,
  COMPARED,
  describeCommand,
  KIND,
  KIND_VALUE,
  NARROWED,
  RECORD,
  SERVICE,
  SCHEMA_EXAMPLES,
  SHOWN_FIELDS,
  UNUSED_FOR,
  USERNAME,
} from './command.js';

export const applicationCreate = describeCommand({
  name: 'application create',
  summary: 'Register an application',
  options: { ...APPLICATION, title: { value: 'TEXT', description: 'name for display' } },
});

export const applicationList = describeCommand({
  name: 'application list',
  summary: 'Show the applications',
  options: {},
});

export const applicationRemove = describeCommand({
  name: 'application remove',
  summary: 'Remove an application and its services',
  options: { ...APPLICATION, purge: { description: 'remove its records too' } },
  notes: [
    'Without --purge an application that still has records is not removed.',
    'Consumers receive hard deletes only while the application exists: remove the records first ' +
      '(import --mirror, record delete), let every consumer harvest, then remove the application.',
  ],
});

export const applicationRekey = describeCommand({
  name: 'application rekey',
  summary: 'Replace the key of the hashes that its services show',
  options: APPLICATION,
  notes: ['All hashed values change and are delivered again.'],
});

export const serviceSet = describeCommand({
  name: 'service set',
  summary: 'Register a service, or change its filter or its fields',
  options: {
    ...SERVICE,
    filter: {
      value: 'JSON|@FILE',
      description: 'MongoDB query, matched against the record; required, except for "default"',
    },
    description: { value: 'TEXT', description: 'what the service is for' },
    ...SHOWN_FIELDS,
    ...SCHEMA_EXAMPLES,
  },
  notes: [
    'Omitted options keep their stored values.',
    'The filter is extended JSON, so that dates and ObjectIds can be written:',
    `  --filter '{"data.datasource": "erp", "createDate": {"$gte": {"$date": "2026-01-01T00:00:00Z"}}}'`,
    'MongoDB runs the filter before it is stored; a filter that MongoDB refuses is an error.',
  ],
});

export const serviceList = describeCommand({
  name: 'service list',
  summary: 'Show the services with their filters and fields',
  options: {
    org: { value: 'ORG', description: 'of this organization only' },
    app: { value: 'APP', description: 'of this application only' },
    kind: { value: KIND_VALUE, description: 'of this kind only' },
  },
});

export const serviceRemove = describeCommand({
  name: 'service remove',
  summary: 'Remove a service',
  options: SERVICE,
});

export const servicePreview = describeCommand({
  name: 'service preview',
  summary: 'Count the records that a filter matches, and those that would enter or leave a service',
  options: {
    ...APPLICATION,
    ...KIND,
    name: { value: 'NAME', description: 'the service to preview, or the service that would get the filter' },
    filter: { value: 'JSON|@FILE', description: 'a filter to try, stored nowhere' },
    ...SHOWN_FIELDS,
  },
  notes: [
    'It shows whether an index serves the filter and, if none does, which one to create ("service index").',
    'If exact counts take longer than QUERY_MS, they are estimated from a random sample and shown with their margin of ' +
      'error. If the estimate takes longer than QUERY_MS as well, only the counts known so far are shown.',
  ],
});

export const serviceIndex = describeCommand({
  name: 'service index',
  summary: 'Build the index that serves a filter; reads and writes continue',
  options: {
    ...APPLICATION,
    ...KIND,
    name: { value: 'NAME', description: 'the service whose filter the index is to serve' },
    filter: { value: 'JSON|@FILE', description: 'or the filter itself' },
    'dry-run': { description: 'only show which index would be built' },
  },
  notes: [
    'The index covers one field of the filter and the records of all applications, so every write of a record updates it. ' +
      'A value of megabytes in that field makes such writes slow.',
    'Ctrl-C stops only the progress display: the database continues the build.',
  ],
});

export const schemaExport = describeCommand({
  name: 'schema export',
  summary: 'Print the JSON Schema of the items of a service',
  options: {
    ...SERVICE,
    typescript: { description: 'print a TypeScript interface instead' },
  },
  notes: [
    'The schema is derived from a sample of the records, restricted to the fields of the service, and contains no values ' +
      'of records. It describes the sample and does not guarantee the shape of future records.',
  ],
});

export const credentialIssue = describeCommand({
  name: 'credential issue',
  summary: 'Make a credential for an application',
  options: {
    username: { value: 'NAME', required: true, description: 'user name, without a colon' },
    org: { value: 'ORG|*', required: true, description: 'organization that it gives access to, * for all' },
    app: { value: 'APP|*', required: true, description: 'application that it gives access to, * for all' },
    level: {
      value: 'read|write|admin',
      required: true,
      description: 'what it may do; each includes those before it',
    },
    expires: {
      value: 'DATE',
      description: 'when it expires, such as 2027-01-31 or 2027-01-31T18:00:00Z',
    },
    'password-stdin': { description: 'read the password from stdin: 12 to 256 characters' },
  },
  notes: [
    'Without --password-stdin, a random password is generated and printed once.',
    'read: the feeds, and single members. write: member writes as well. admin: the administration API as well.',
  ],
});

export const credentialChange = describeCommand({
  name: 'credential change',
  summary: 'Disable or enable a credential, or change its level or expiration',
  options: {
    ...USERNAME,
    level: { value: 'read|write|admin', description: 'what it may do; each includes those before it' },
    expires: { value: 'DATE|never', description: 'when it expires, such as 2027-01-31' },
    disable: { description: 'reject the credential until it is enabled' },
    enable: { description: 'accept the credential again' },
  },
});

export const credentialRotate = describeCommand({
  name: 'credential rotate',
  summary: 'Give a credential a new password',
  options: {
    ...USERNAME,
    'keep-old-until': {
      value: 'DATE',
      description: 'when the old password expires, such as 2027-01-31 or 2027-01-31T18:00:00Z',
    },
    'password-stdin': { description: 'read the password from stdin: 12 to 256 characters' },
  },
  notes: [
    'Without --password-stdin, a random password is generated and printed once.',
    'Without --keep-old-until, every instance rejects the old password within 2 seconds. With it, the old password is valid ' +
      'until that date or until "credential retire".',
  ],
});

export const credentialRetire = describeCommand({
  name: 'credential retire',
  summary: 'Invalidate the previous password of a credential',
  options: USERNAME,
});

export const credentialRevoke = describeCommand({
  name: 'credential revoke',
  summary: 'Remove a credential; every instance rejects it within 2 seconds',
  options: {
    username: { ...USERNAME.username, required: false },
    ...UNUSED_FOR,
    yes: { description: 'with --unused-for: do not ask first' },
  },
  notes: ['The user name is free again afterwards.'],
});

export const credentialList = describeCommand({
  name: 'credential list',
  summary: 'Show the credentials, without passwords',
  options: UNUSED_FOR,
  notes: ['LAST USED is accurate to the minute.'],
});

export const configExport = describeCommand({
  name: 'config export',
  summary: 'Print kinds, applications, services and credentials as YAML, without passwords',
  options: NARROWED,
  notes: [(admin) => `${admin} config export > tidemark.yaml`],
});

export const configPlan = describeCommand({
  name: 'config plan',
  summary: 'Show what a configuration file would change, and the effects on the services',
  argument: 'FILE.yaml|-',
  options: COMPARED,
  notes: ['Nothing is changed. In the plan, + means create, ~ change, - remove.'],
});

export const configApply = describeCommand({
  name: 'config apply',
  summary: 'Apply the kinds, applications, services and credentials of a file',
  argument: 'FILE.yaml|-',
  options: { ...COMPARED, yes: { description: 'do not ask first' } },
  notes: [
    'All changes are applied, or none. The plan is shown first. If the configuration changes in the meantime, nothing is applied.',
    'Each created credential gets a random password, which is printed once.',
  ],
});

export const importCommand = describeCommand({
  name: 'import',
  summary: 'Import records from a file, or from stdin (-)',
  argument: 'FILE.ndjson|-',
  options: {
    ...APPLICATION,
    ...KIND,
    mirror: { description: 'remove the records that the file lacks, if every line was good' },
    expect: { value: 'LINES', description: 'with --mirror: only if the input has this many lines' },
    strict: { description: 'stop at the first bad line; records that were imported before are kept' },
    'dry-run': { description: 'write nothing, and show what would be created, changed and removed' },
  },
  notes: [
    'Each line is a JSON object {id, data, channels?, type?, createDate?, createdBy?}.',
    'Records are identified by id; properties that a line omits keep their stored values.',
    'A record that already equals its line is not changed; any other gets a new lastupdated.',
    'A bad line is reported on stderr with its number, and the others are imported; the exit code is then 1.',
    'A line that appears to be of another kind is a bad line: a member without data.accountnumber, or a product with ' +
      'data.accountnumber and data.email. To import it anyway, give it a "type" with the name of the kind.',
    'Values are stored as JSON represents them: dates are strings. A line with a number that would be stored as a different ' +
      'one, such as 9007199254740993, is a bad line.',
  ],
});

export const recordDelete = describeCommand({
  name: 'record delete',
  summary: 'Delete one record, or those in a list; consumers receive hard deletes',
  options: {
    ...APPLICATION,
    ...KIND,
    id: { value: 'ID', description: 'id of the record, as in the feeds' },
    'ids-from': { value: 'FILE|-', description: 'a file with one id per line, or stdin (-)' },
    'dry-run': { description: 'delete nothing, and show what would be deleted' },
  },
  notes: [
    'Give either --id or --ids-from. Ids are read verbatim, including spaces; blank lines are ignored.',
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
    'The newest 100 re-stamps of the record that has the id now, and of its hard delete, newest first. They are ' +
      'recorded within a second, and kept for RESTAMP_HISTORY_DAYS days.',
  ],
});

export const resync = describeCommand({
  name: 'resync',
  summary: 'Make consumers receive every record and every hard delete again',
  options: { ...APPLICATION, ...KIND },
  notes: [
    'Every record of the application and kind gets a new lastupdated, and so does every hard delete; nothing else is changed.',
    'It can be interrupted. The next run starts from the beginning.',
    'Documents that cannot be stamped are reported and quarantined, and the exit code is 1. The service stamps them as soon as it can.',
  ],
});
