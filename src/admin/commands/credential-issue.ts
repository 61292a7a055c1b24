import {
  assertApplication,
  issueCredential,
  newUsernameFault,
  randomPassword,
} from '../../administration/plain.js';
import { type Level, LEVELS, type Scope } from '../../auth/plain.js';
import { FatalError, shown } from '../../common/index.js';
import { defineCommand } from '../command.js';
import { choiceOf, futureDateOf, nameOf } from '../options.js';
import { passwordFrom } from '../password-input.js';
import { deskOn } from '../session.js';

const EVERY = '*';

export const credentialIssue = defineCommand({
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
  async run(context, values) {
    const { username } = values;
    const fault = newUsernameFault(username);
    if (fault !== undefined) throw new FatalError(`--username "${shown(username)}" ${fault}`);
    const level: Level = choiceOf('level', values.level, LEVELS);
    const scope = { organizationid: scopeName('org', values.org), appid: scopeName('app', values.app) };
    const expiresAt = values.expires === undefined ? undefined : futureDateOf('expires', values.expires);
    const given = values['password-stdin'] ? await passwordFrom(context.terminal.input) : undefined;
    const desk = deskOn(context, await context.prepared());
    if (!Object.values(scope).includes(EVERY)) await assertApplication(desk.db, scope);
    const password = given ?? randomPassword();
    await issueCredential(desk, { username, level, scopes: [scope], expiresAt }, password);
    const opens = `opens ${scope.organizationid}/${scope.appid} with level ${level}`;
    return {
      text: [
        `The credential "${username}" ${opens}${expiresAt === undefined ? '' : ` until ${expiresAt.toISOString()}`}.`,
        ...(given === undefined ? [`Password, shown only now: ${password}`] : []),
      ].join('\n'),
      json: { username, level, scopes: [scope], expiresAt, ...(given === undefined && { password }) },
    };
  },
});

function scopeName(option: string, text: string): Scope[keyof Scope] {
  return text === EVERY ? EVERY : nameOf(option, text);
}
