import { type ConsumerReport, reportConsumers } from '../../replication/consumers/index.js';
import { defineCommand } from '../command.js';
import { nameOf } from '../options.js';
import { counted, duration, table } from '../print.js';
import { databaseOf } from '../session.js';

const HEADINGS = ['USERNAME', 'STATE', 'BEHIND', 'READS', 'LAST CALL', 'LAST ERROR'];

export const consumerList = defineCommand({
  name: 'consumer list',
  summary: 'Show how the consumers do, those furthest behind first',
  options: {
    org: { value: 'ORG', description: 'of this organization only' },
    app: { value: 'APP', description: 'of this application only' },
  },
  notes: [
    'current: has read to the end. behind: reads, and is not there yet. stalled: has stopped calling.',
    'looping: begins the same window again and again. never finished: never read a window to its end.',
    'must start over: hard deletes that it needs are not kept any more.',
  ],
  async run(context, { org, app }) {
    const organizationid = org === undefined ? undefined : nameOf('org', org);
    const appid = app === undefined ? undefined : nameOf('app', app);
    const consumers = await reportConsumers(databaseOf(await context.connected()), {
      organizationids: organizationid === undefined ? undefined : [organizationid],
      covers: (tenant) => appid === undefined || tenant.appid === appid,
    });
    const now = new Date();
    const rows = consumers.map((one) => rowOf(one, now));
    return { text: table(HEADINGS, rows, 'No consumer has called yet.'), json: consumers };
  },
});

function rowOf(one: ConsumerReport, now: Date): string[] {
  const { state, username, organizationid, appid, kind, service, lastCall, lastError } = one;
  return [
    ...[username, state, behindOf(one)],
    `${organizationid}/${appid} ${kind} ${service}`,
    ago(lastCall, now),
    !lastError ? '' : `${lastError.status}, ${ago(lastError.at, now)}`,
  ];
}

function ago(time: Date, now: Date): string {
  return `${duration(Math.max(0, now.getTime() - time.getTime()) / 1000)} ago`;
}

function behindOf({ behindSeconds, behindRecords }: ConsumerReport): string {
  const records = behindRecords === null ? '' : `, ${counted(behindRecords, 'record')}`;
  return behindSeconds === null ? `all${records}` : `${duration(behindSeconds)}${records}`;
}
