import {
  assertApplication,
  type ChangeContext,
  changeCredential,
  credentialExists,
  issueCredential,
  type LastUse,
  lastUses,
  listCredentials,
  type ListedCredential,
  newUsernameFault,
  randomPassword,
  Refused,
  retireOldPassword,
  revokeCredential,
  rotateCredential,
  type Unused,
  unusedCredentials,
} from '../../plain.js';
import { credentialState, type Level, LEVELS, type Scope } from '../../../auth/plain.js';
import { shown, UsageError } from '../../../platform/common/index.js';
import type { CommandContext, Outcome, Run } from '../command.js';
import type {
  credentialChange,
  credentialIssue,
  credentialList,
  credentialRetire,
  credentialRevoke,
  credentialRotate,
} from '../descriptions.js';
import { choiceOf, daysOf, futureDateOf, checkedName, passwordFrom } from '../input.js';
import { type Wording } from '../layout.js';
import { cell, counted, table } from '../table.js';
import { databaseOf, changeContextOf } from '../session.js';

const EVERY = '*';
const NEVER = 'never';
const HEADINGS = ['USERNAME', 'LEVEL', 'SCOPES', 'STATE', 'LAST USED', 'FROM'];

export const runIssue: Run<typeof credentialIssue> = async (context, values) => {
  const { username } = values;
  const fault = newUsernameFault(username);
  if (fault !== undefined) throw new UsageError(`--username "${shown(username)}" ${fault}`);
  const level: Level = choiceOf('level', values.level, LEVELS);
  const scope = { organizationid: scopeName('org', values.org), appid: scopeName('app', values.app) };
  const expiresAt = values.expires === undefined ? undefined : futureDateOf('expires', values.expires);
  const given = values['password-stdin'] ? await passwordFrom(context.terminal.input) : undefined;
  const changeContext = changeContextOf(context, await context.prepared());
  if (!Object.values(scope).includes(EVERY)) await assertApplication(changeContext.db, scope);
  const password = given ?? randomPassword();
  await issueCredential(changeContext, { username, level, scopes: [scope], expiresAt }, password);
  const access = `gives access to ${scope.organizationid}/${scope.appid} with level ${level}`;
  return {
    text: [
      `The credential "${username}" ${access}${expiresAt === undefined ? '' : ` until ${expiresAt.toISOString()}`}.`,
      ...(given === undefined ? [`Password, shown only now: ${password}`] : []),
    ].join('\n'),
    json: { username, level, scopes: [scope], expiresAt, ...(given === undefined && { password }) },
  };
};

export const runChange: Run<typeof credentialChange> = async (
  context,
  { username, level, expires, disable, enable },
) => {
  if (disable && enable) throw new UsageError('Give --disable or --enable, not both.');
  const change = {
    ...(level !== undefined && { level: choiceOf('level', level, LEVELS) }),
    ...(expires !== undefined && {
      expiresAt: expires === NEVER ? null : futureDateOf('expires', expires),
    }),
    ...((disable || enable) && { disabled: !enable }),
  };
  if (Object.keys(change).length === 0)
    throw new UsageError('Give --level, --expires, --disable or --enable.');
  await changeCredential(changeContextOf(context, await context.connected()), username, change);
  return { text: `The credential "${username}" is changed.`, json: { username, ...change } };
};

export const runRotate: Run<typeof credentialRotate> = async (
  context,
  { username, 'keep-old-until': until, 'password-stdin': fromStdin },
) => {
  const keepOldUntil = until === undefined ? undefined : futureDateOf('keep-old-until', until);
  const given = fromStdin ? await passwordFrom(context.terminal.input) : undefined;
  const password = given ?? randomPassword();
  const changeContext = changeContextOf(context, await context.connected());
  await rotateCredential(changeContext, username, password, { keepOldUntil });
  const kept = keepOldUntil === undefined ? '' : `; the old one works until ${keepOldUntil.toISOString()}`;
  return {
    text: [
      `The credential "${username}" has a new password${kept}.`,
      ...(given === undefined ? [`Password, shown only now: ${password}`] : []),
    ].join('\n'),
    json: { username, keepOldUntil, ...(given === undefined && { password }) },
  };
};

export const runRetire: Run<typeof credentialRetire> = async (context, { username }) => {
  const isRetired = await retireOldPassword(changeContextOf(context, await context.connected()), username);
  return {
    text: isRetired
      ? `The old password of "${username}" no longer works.`
      : `The credential "${username}" has no old password.`,
    json: { username, isRetired },
  };
};

export const runRevoke: Run<typeof credentialRevoke> = async (
  context,
  { username, 'unused-for': unusedFor, yes },
) => {
  if ((username === undefined) === (unusedFor === undefined))
    throw new UsageError('Give either --username or --unused-for.');
  if (username === undefined) return revokeUnused(context, daysOf('unused-for', unusedFor!), yes);
  await revokeCredential(changeContextOf(context, await context.connected()), username);
  return { text: `The credential "${username}" is removed.`, json: { username } };
};

export const runList: Run<typeof credentialList> = async (context, { 'unused-for': unusedFor }) => {
  const db = databaseOf(await context.connected());
  const days = unusedFor === undefined ? undefined : daysOf('unused-for', unusedFor);
  const unused = days === undefined ? undefined : await unusedCredentials(db, days);
  const credentials: ListedCredential[] = unused?.credentials ?? (await listCredentials(db));
  const now = new Date();
  const useOf = await lastUses(
    db,
    credentials.map(({ username }) => username),
  );
  const none = unused === undefined ? 'There is no credential yet.' : usesText(unused, days!);
  return {
    text: credentialTable(credentials, useOf, none),
    json: credentials.map((credential) => ({
      ...credential,
      ...useOf(credential.username),
      state: stateOf(credential, now),
    })),
  };
};

function scopeName(option: string, text: string): Scope[keyof Scope] {
  return text === EVERY ? EVERY : checkedName(option, text);
}

async function revokeUnused(context: CommandContext, days: number, isSure: boolean): Promise<Outcome> {
  const changeContext = changeContextOf(context, await context.connected());
  const unused = await unusedCredentials(changeContext.db, days);
  const usernames = unused.credentials
    .map(({ username }) => username)
    .filter((one) => typeof one === 'string');
  if (usernames.length === 0) return { text: usesText(unused, days), json: { revoked: [] } };
  const useOf = await lastUses(changeContext.db, usernames);
  context.print(credentialTable(unused.credentials, useOf, ''));
  const question = `Remove ${counted(usernames.length, 'credential')}?`;
  if (!isSure && !(await context.confirm(question)))
    return { text: 'Nothing is removed.', json: { revoked: [] }, failure: 'It was not confirmed.' };
  const still = isSure ? unused : await unusedCredentials(changeContext.db, days);
  const areUnused = new Set(still.credentials.map(({ username }) => username));
  const { revoked, error } = await revokeEach(
    changeContext,
    usernames.filter((one) => areUnused.has(one)),
  );
  const text = `${counted(revoked.length, 'credential')} removed: ${revoked.join(', ')}.`;
  return { text: revoked.length === 0 ? 'Nothing is removed.' : text, json: { revoked }, error };
}

/**
 * Removes credentials one by one, apart from those that have been removed meanwhile. Returns those that are removed, and
 * the error if one ended it early.
 */
async function revokeEach(
  changeContext: ChangeContext,
  usernames: string[],
): Promise<{ revoked: string[]; error?: unknown }> {
  const revoked: string[] = [];
  for (const username of usernames) {
    try {
      await revokeCredential(changeContext, username);
      revoked.push(username);
    } catch (error) {
      if (error instanceof Refused && error.problem.status === 404) continue;
      // The credential is removed before its entry of the audit trail is written.
      const isRemoved = await credentialExists(changeContext.db, username).then(
        (exists) => !exists,
        () => false,
      );
      return { revoked: isRemoved ? [...revoked, username] : revoked, error };
    }
  }
  return { revoked };
}

/** A table of credentials, or the sentence `none` if there are none. */
function credentialTable(
  credentials: ListedCredential[],
  useOf: (username: unknown) => LastUse,
  none: string,
): Wording {
  const now = new Date();
  const rows = credentials.map((credential) => {
    const { lastUsed, lastUsedFrom } = useOf(credential.username);
    return [
      ...[cell(credential.username), cell(credential.level), scopesOf(credential).join(' ')],
      ...[stateOf(credential, now), lastUsed?.toISOString() ?? '', lastUsedFrom ?? ''],
    ];
  });
  return table(HEADINGS, rows, none);
}

/** Why a list of unused credentials is empty. */
function usesText({ since }: Unused, days: number): string {
  if (since === undefined) return 'No use of a credential has been recorded yet.';
  return since.getTime() > Date.now() - days * 86_400_000
    ? `Usage has been tracked only since ${since.toISOString()}: it is not known yet which credentials were unused for ${days} days.`
    : `Each credential was used or created in the last ${days} days.`;
}

function scopesOf({ scopes }: ListedCredential): string[] {
  if (!Array.isArray(scopes)) return [];
  return (scopes as (Partial<Scope> | null)[]).map(
    (scope) => `${cell(scope?.organizationid)}/${cell(scope?.appid)}`,
  );
}

/** The state of a credential, in words. */
function stateOf(credential: ListedCredential, now: Date): string {
  const { expiresAt, oldexpiresAt } = credential;
  const until = expiresAt instanceof Date ? expiresAt.toISOString() : undefined;
  switch (credentialState(credential, now)) {
    case 'disabled':
      return 'disabled';
    case 'broken':
      return 'opens nothing: a field is of the wrong type';
    case 'expired':
      return `expired ${until}`;
    case 'valid': {
      const both =
        oldexpiresAt instanceof Date && oldexpiresAt > now
          ? `, old password until ${oldexpiresAt.toISOString()}`
          : '';
      return `${until === undefined ? 'valid' : `valid until ${until}`}${both}`;
    }
  }
}
