import { type AuditStatus, clockBehindText, type Status, statusOf } from '../../plain.js';
import { count, duration } from '../../../platform/common/index.js';
import { rightSentence } from '../../../platform/database/plain.js';
import { type ConsumerReport, reportConsumers } from '../../../replication/feed/plain.js';
import type { CountsByWord, PassStatus } from '../../../replication/store/plain.js';
import { restInWords, shareDone } from '../../../replication/protocol/index.js';
import type { Run } from '../command.js';
import type { consumerList, status } from '../operation-descriptions.js';
import { checkedName } from '../input.js';
import { type Wording } from '../layout.js';
import { counted, described, type SaidLine, table } from '../table.js';
import { databaseOf } from '../session.js';
import { stateOf } from './kinds.js';

/**
 * An oplog that uses at least this share of its size counts as full: it drops its oldest entries in portions, so a full
 * one may use only nine tenths of its size.
 */
const FULL = 0.8;
/** The actions that show how far the oplog reaches back, and how full it is. */
const OPLOG_RIGHTS = ['serverStatus', 'collStats'] as const;

const HEADINGS = ['USERNAME', 'READS', 'STATE', 'BEHIND', 'RECORDS', 'CALLED'];

export const runStatus: Run<typeof status> = async (context) => {
  const { database, ...found } = await statusOf(await context.connected());
  const uri = await context.embeddedUri();
  return {
    text: statusText({ database, ...found }, uri),
    json: { database: { ...database, ...(uri !== undefined && { uri }) }, ...found },
  };
};

export const runConsumerList: Run<typeof consumerList> = async (context, { org, app }) => {
  const organizationid = org === undefined ? undefined : checkedName('org', org);
  const appid = app === undefined ? undefined : checkedName('app', app);
  const consumers = await reportConsumers(databaseOf(await context.connected()), {
    organizationids: organizationid === undefined ? undefined : [organizationid],
    covers: (tenant) => appid === undefined || tenant.appid === appid,
  });
  const now = new Date();
  const rows = consumers.map((one) => rowOf(one, now));
  const headings = [...HEADINGS, ...(consumers.some(({ lastError }) => lastError) ? ['LAST ERROR'] : [])];
  return { text: table(headings, rows, 'No consumer has called yet.'), json: consumers };
};

/** The text of `status`; `uri` is the address of the embedded database, if that is in use. */
export function statusText(status: Status, uri?: string): Wording {
  const { database, watcher, totals, audit, hardDeletesExpired, documents } = status;
  const { name, version, replicaSet } = database;
  const place = replicaSet === undefined ? 'behind mongos' : `replica set ${replicaSet}`;
  return described([
    ['Database', `${name}, MongoDB ${version}, ${place}`],
    ...(uri === undefined ? [] : [['', `embedded; other programs can write into it at ${uri}`] as const]),
    formatLine(status.storageFormat),
    indexLine(status),
    ['Watcher', watcherText(watcher), watcher.leader === undefined ? 'red' : undefined],
    ...kindLines(status.kinds),
    ...asideLines(watcher),
    ...pendingLines(status.pendingServices),
    ...clockLines(watcher),
    ['Oplog', oplogText(status)],
    ...(watcher.pass === undefined ? [] : [['Pass', passText(watcher.pass), 'yellow'] as const]),
    ['Re-stamps', tally(totals.restamps, 'none so far')],
    ['Tombstones', `${count(totals.tombstones ?? 0)} written, ${keptText(hardDeletesExpired)}`],
    ['Passes', tally(totals.passes, 'none so far')],
    ['Repaired', tally(totals.repaired, 'nothing so far')],
    ['Ignored', tally(totals.ignored, 'no record')],
    ['Audit', auditText(audit)],
    ['Documents', listed(Object.entries(documents))],
    ...duplicateLines(status.emailDuplicates),
    ...filterLines(status.faultyFilters),
    ...quarantineLines(status.quarantine),
  ]);
}

function formatLine({ inForce, newest }: Status['storageFormat']): SaidLine {
  if (inForce === newest) return ['Storage', `format ${inForce}`];
  return [
    'Storage',
    `format ${inForce}; format ${newest} comes into force with the command upgrade finish`,
    'yellow',
  ];
}

function indexLine({ missingIndexes: missing, indexesOfOthers: others }: Status): SaidLine {
  const beside =
    others.length === 0 ? '' : `; other programs have indexes over the same fields: ${others.join('; ')}`;
  if (missing.length === 0) return ['Indexes', `all exist${beside}`];
  return ['Indexes', `missing: ${missing.join('; ')}`, 'red'];
}

function watcherText({ leader, leaseExpires, since, lagSeconds, secondsLeft }: Status['watcher']): string {
  const lag =
    lagSeconds === undefined ? [] : [`${duration(lagSeconds)} behind${rest(undefined, secondsLeft)}`];
  if (leader === undefined) return `${['no instance leads', ...lag].join(', ')}: is the service running?`;
  return [
    `${leader} leads`,
    since === undefined
      ? 'its first pass is not finished'
      : `history since the pass of ${since.toISOString()}`,
    `lease until ${leaseExpires?.toISOString()}`,
    ...lag,
  ].join(', ');
}

/** Lists the served kinds on one line, and each other kind on its own line. */
function kindLines(kinds: Status['kinds']): SaidLine[] {
  const served = kinds.filter(({ state }) => state === 'ready').map(({ name }) => name);
  const others = kinds.filter(({ state }) => state !== 'ready');
  return [
    ['Kinds', served.join(', ')],
    ...others.map((kind): SaidLine => [
      '',
      `${kind.name} ${stateOf(kind)}`,
      kind.fault === undefined ? 'yellow' : 'red',
    ]),
  ];
}

function asideLines({ aside }: Status['watcher']): SaidLine[] {
  if (aside.length === 0) return [];
  return [
    ['Aside', `${counted(aside.length, 'application')}, processed separately from all others`, 'yellow'],
    ...aside.map(({ organizationid, appid, lagSeconds, pass, share, secondsLeft }): SaidLine => {
      const lag = duration(lagSeconds);
      const state = pass === undefined ? `${lag} behind` : `a pass over it has run for ${lag} (${pass})`;
      return ['', `${organizationid}/${appid}: ${state}${rest(share, secondsLeft)}`];
    }),
  ];
}

function pendingLines({ services, first }: Status['pendingServices']): SaidLine[] {
  if (services === 0) return [];
  return [
    ['Edited', `${counted(services, 'service')}, whose feeds wait until records are stamped anew`, 'yellow'],
    ...first.map(({ organizationid, appid, kind, name, since, share, secondsLeft, failures }): SaidLine => [
      '',
      `${kind} service "${name}" of ${organizationid}/${appid}` +
        `${since === undefined ? '' : `, since ${since.toISOString()}`}${rest(share, secondsLeft)}` +
        `${failures === 0 ? '' : `, ${counted(failures, 'attempt')} failed: the log says why`}`,
    ]),
  ];
}

/** The progress of some work, to be appended to a text about it, with a comma first; empty if it is not known. */
function rest(share: number | undefined, secondsLeft: number | undefined): string {
  const words = restInWords(share, secondsLeft);
  return words === undefined ? '' : `, ${words}`;
}

function clockLines({ clockBehindSeconds: seconds }: Status['watcher']): SaidLine[] {
  const text = clockBehindText(seconds);
  return text === undefined ? [] : [['Clock', text, 'yellow']];
}

function oplogText({ watcher, missingRights }: Pick<Status, 'watcher' | 'missingRights'>): string {
  const {
    oplogWindowSeconds: window,
    oplogUsedRatio: used,
    oplogPredictedWindowSeconds: predicted,
  } = watcher;
  const hidden = missingRights.find(({ action }) => action === OPLOG_RIGHTS[window === undefined ? 0 : 1]);
  if (window === undefined)
    return `how far it reaches back is not known: ${hidden ? rightSentence(hidden) : 'first start, or mongos'}`;
  if (window === 0) return 'no longer reaches back to the watcher: a pass will repair what was missed';
  if (used === undefined || used >= FULL)
    return `the watcher can be down for ${duration(window)}${hidden && used === undefined ? `; ${rightSentence(hidden)}` : ''}`;
  const future = predicted === undefined ? '' : `, and holds about ${duration(predicted)} at its rate so far`;
  return `reaches back ${duration(window)}; it is ${Math.floor(used * 100)} % full${future}`;
}

function passText(pass: PassStatus): string {
  const { done, total, started, reason, secondsLeft } = pass;
  const percentage = Math.floor(shareDone(pass) * 100);
  return (
    `${percentage} %, ${count(done)} of about ${count(total)} records and ledger entries${rest(undefined, secondsLeft)}, ` +
    `since ${started.toISOString()}: ${reason}`
  );
}

function keptText(expired: Date | undefined): string {
  return expired === undefined ? 'all are kept' : `those up to ${expired.toISOString()} are not kept`;
}

function auditText(audit: AuditStatus | undefined): string {
  if (audit === undefined) return 'has not begun';
  const { round, kind, slices, lastRoundSeconds, roundSeconds, found } = audit;
  const seconds = lastRoundSeconds ?? roundSeconds;
  return [
    `round ${count(round)}, now at kind ${kind}`,
    `${counted(slices, 'slice')} done`,
    ...(seconds === null ? [] : [`a round takes ${duration(seconds)}`]),
    `${counted(found, 'fault')} found and repaired`,
  ].join(', ');
}

function duplicateLines({ members, first }: Status['emailDuplicates']): SaidLine[] {
  if (members === 0) return [['Duplicates', 'no duplicate e-mails']];
  return [
    ['Duplicates', `${counted(members, 'member')} with the e-mail of an earlier member`, 'yellow'],
    ...first.map(({ organizationid, appid, emailkey, members: ids, others }): SaidLine => [
      '',
      `${organizationid}/${appid} ${emailkey}: members with _id ${ids.join(', ')}${others === undefined ? '' : `, and ${count(others)} more`}`,
    ]),
  ];
}

function filterLines({ services, first }: Status['faultyFilters']): SaidLine[] {
  if (services === 0) return [];
  return [
    ['Filters', `${counted(services, 'service')} with a fault`, 'yellow'],
    ...first.map(({ service, detail, isServed }): SaidLine => [
      '',
      `${service}, ${isServed ? 'still served' : 'answered with 500'}: ${detail}`,
    ]),
  ];
}

function quarantineLines({ events, first }: Status['quarantine']): SaidLine[] {
  if (events === 0) return [];
  return [
    [
      'Quarantine',
      `${count(events)} ${events === 1 ? 'entry' : 'entries'}, retried until processed`,
      'yellow',
    ],
    ...first.map(({ what, _id, since, reason }): SaidLine => [
      '',
      `${_id === '' ? what : `${what} ${_id}`}, since ${since.toISOString()}: ${reason}`,
    ]),
  ];
}

/** Names with their numbers, without those whose number is 0; `none` if no name is left. */
function tally(numbers: CountsByWord = {}, none: string): string {
  const entries = Object.entries(numbers).map(([name, number]) => [name, number ?? 0] as const);
  return listed(entries.filter(([, number]) => number > 0)) || none;
}

function listed(numbers: (readonly [string, number])[]): string {
  return numbers.map(([name, number]) => `${name} ${count(number)}`).join(', ');
}

function rowOf(one: ConsumerReport, now: Date): string[] {
  const { state, username, organizationid, appid, kind, service, lastCall, lastError } = one;
  const { behindSeconds, behindRecords } = one;
  return [
    ...[username, `${kind} ${service} of ${organizationid}/${appid}`, state],
    behindSeconds === null ? 'all' : duration(behindSeconds),
    behindRecords === null ? '' : count(behindRecords),
    ago(lastCall, now),
    ...(lastError ? [`${lastError.status}, ${ago(lastError.at, now)}`] : []),
  ];
}

/** The elapsed time, in its largest unit only. */
function ago(time: Date, now: Date): string {
  const [number, unit] = duration(Math.max(0, now.getTime() - time.getTime()) / 1000).split(' ');
  return `${number} ${unit} ago`;
}
