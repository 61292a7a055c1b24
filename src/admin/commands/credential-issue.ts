import {
  assertApplication,
  issueCredential,
  newUsernameFault,
  randomPassword,
} from '../../administration/plain.js';
import { type Level, LEVELS, type Scope } from '../../auth/plain.js';
import { FatalError, shown } from '../../common/index.js';
import type { Run } from '../command.js';
import type { credentialIssue } from '../descriptions/credential.js';
import { choiceOf, futureDateOf, nameOf } from '../option-values.js';
import { passwordFrom } from '../password-input.js';
import { deskOn } from '../session.js';

const EVERY = '*';

export const run: Run<typeof credentialIssue> = async (context, values) => {
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
};

function scopeName(option: string, text: string): Scope[keyof Scope] {
  return text === EVERY ? EVERY : nameOf(option, text);
}
