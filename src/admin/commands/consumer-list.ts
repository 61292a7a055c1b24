import { type ConsumerReport, reportConsumers } from '../../replication/consumers/plain.js';
import { count, duration } from '../../common/index.js';
import type { Run } from '../command.js';
import type { consumerList } from '../descriptions/operation.js';
import { nameOf } from '../option-values.js';
import { table } from '../print.js';
import { databaseOf } from '../session.js';

const HEADINGS = ['USERNAME', 'READS', 'STATE', 'BEHIND', 'RECORDS', 'CALLED'];

export const run: Run<typeof consumerList> = async (context, { org, app }) => {
  const organizationid = org === undefined ? undefined : nameOf('org', org);
  const appid = app === undefined ? undefined : nameOf('app', app);
  const consumers = await reportConsumers(databaseOf(await context.connected()), {
    organizationids: organizationid === undefined ? undefined : [organizationid],
    covers: (tenant) => appid === undefined || tenant.appid === appid,
  });
  const now = new Date();
  const rows = consumers.map((one) => rowOf(one, now));
  const headings = [...HEADINGS, ...(consumers.some(({ lastError }) => lastError) ? ['LAST ERROR'] : [])];
  return { text: table(headings, rows, 'No consumer has called yet.'), json: consumers };
};

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

/** In its greatest unit alone. */
function ago(time: Date, now: Date): string {
  const [number, unit] = duration(Math.max(0, now.getTime() - time.getTime()) / 1000).split(' ');
  return `${number} ${unit} ago`;
}
