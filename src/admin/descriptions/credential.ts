import { describeCommand } from '../command.js';
import { USERNAME, UNUSED_FOR } from '../options.js';

export const credentialIssue = describeCommand({
  name: 'credential issue',
  summary: 'Make a credential for an application',
  options: {
    username: { value: 'NAME', required: true, description: 'user name, without a colon' },
    org: { value: 'ORG|*', required: true, description: 'organization it opens, * for every one' },
    app: { value: 'APP|*', required: true, description: 'application it opens, * for every one' },
    level: {
      value: 'read|write|admin',
      required: true,
      description: 'what it may do; each includes those before it',
    },
    expires: {
      value: 'DATE',
      description: 'until when it works, such as 2027-01-31 or 2027-01-31T18:00:00Z',
    },
    'password-stdin': { description: 'read the password from stdin: 12 to 256 characters' },
  },
  notes: [
    'Without --password-stdin a random password is made and printed, this once.',
    'read: the feeds, and single members. write: member writes as well. admin: the administration API as well.',
  ],
});

export const credentialChange = describeCommand({
  name: 'credential change',
  summary: 'Disable or enable a credential, or change its level or end',
  options: {
    ...USERNAME,
    level: { value: 'read|write|admin', description: 'what it may do; each includes those before it' },
    expires: { value: 'DATE|never', description: 'until when it works, such as 2027-01-31' },
    disable: { description: 'it opens nothing until it is enabled' },
    enable: { description: 'it opens again what it opened before' },
  },
});

export const credentialRotate = describeCommand({
  name: 'credential rotate',
  summary: 'Give a credential another password',
  options: {
    ...USERNAME,
    'keep-old-until': {
      value: 'DATE',
      description: 'until when the old password works too, such as 2027-01-31 or 2027-01-31T18:00:00Z',
    },
    'password-stdin': { description: 'read the password from stdin: 12 to 256 characters' },
  },
  notes: [
    'Without --password-stdin a random password is made and printed, this once.',
    'Without --keep-old-until the old one opens nothing more. One that is kept ends then, or with "credential retire".',
  ],
});

export const credentialRetire = describeCommand({
  name: 'credential retire',
  summary: 'End the password that a credential had before its last rotation',
  options: USERNAME,
});

export const credentialRevoke = describeCommand({
  name: 'credential revoke',
  summary: 'Remove a credential: it opens nothing from the next request on',
  options: {
    username: { ...USERNAME.username, required: false },
    ...UNUSED_FOR,
    yes: { description: 'with --unused-for: do not ask first' },
  },
  notes: ['The user name is free again afterwards.'],
});

export const credentialList = describeCommand({
  name: 'credential list',
  summary: 'Show the credentials, without anything secret',
  options: UNUSED_FOR,
  notes: ['LAST USED is known to the minute.'],
});
