import { defineCommand } from '../command.js';
import { count } from '../print.js';
import { type Status, statusOf, type WatcherStatus } from '../status.js';

export const status = defineCommand({
  name: 'status',
  summary: 'Show the database, its indexes, the watcher and duplicate e-mails',
  options: {},
  async run(context) {
    const found = await statusOf(await context.connected());
    return { text: linesOf(found).join('\n'), json: found };
  },
});

function linesOf({ database, missingIndexes, watcher, documents, emailDuplicates }: Status): string[] {
  const counts = Object.entries(documents).map(([name, number]) => `${name} ${count(number)}`);
  return [
    `Database    ${database.name}, MongoDB ${database.version}, replica set ${database.replicaSet ?? 'behind mongos'}`,
    `Indexes     ${missingIndexes.length === 0 ? 'all stand' : `missing: ${missingIndexes.join('; ')}`}`,
    `Watcher     ${watcherLine(watcher)}`,
    `Documents   ${counts.join(', ')}`,
    `Duplicates  ${emailDuplicates.members === 0 ? 'no e-mail is taken twice' : `${count(emailDuplicates.members)} members have an e-mail that another has already`}`,
    ...emailDuplicates.first.map(
      ({ organizationid, appid, emailkey, members }) =>
        `            ${organizationid}/${appid} ${emailkey}: members with _id ${members.join(', ')}`,
    ),
  ];
}

function watcherLine({ leader, leaseExpires, since, lagSeconds }: WatcherStatus): string {
  if (leader === undefined) return 'nobody leads: is the service running?';
  return [
    `${leader} leads`,
    since === undefined ? 'its first pass is not finished' : `since the pass of ${since.toISOString()}`,
    `lease until ${leaseExpires?.toISOString()}`,
    ...(lagSeconds === undefined ? [] : [`${lagSeconds} s behind`]),
  ].join(', ');
}
