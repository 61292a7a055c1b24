import { assertApplication, recordStory, type RecordStory } from '../../administration/index.js';
import { defineCommand } from '../command.js';
import { APPLICATION, KIND, kindOf, tenantOf } from '../options.js';
import { databaseOf } from '../session.js';

const STATES: Record<RecordStory['state'], (since: string) => string> = {
  alive: (since) => `is alive, changed last at ${since}. Windows that hold this stamp deliver it`,
  gone: (since) => `is gone since ${since}. harddeletes tells of it in windows that hold this stamp`,
  'not yet known': () => 'is stored, but not in the feeds: the watcher has not come to it, or leaves it out',
  unknown: () => 'is not known: there never was one, or its hard delete is kept no longer',
};

export const recordShow = defineCommand({
  name: 'record show',
  summary: 'Show whether a record is alive or gone, and which services match it',
  options: {
    ...APPLICATION,
    ...KIND,
    id: { value: 'ID', required: true, description: 'id of the record, as in the feeds' },
  },
  async run(context, { id, ...names }) {
    const of = { ...tenantOf(names), kind: kindOf(names) };
    const db = databaseOf(await context.connected());
    await assertApplication(db, of);
    const story = await recordStory(db, of, id);
    return { text: linesOf(story).join('\n'), json: story };
  },
});

function linesOf({ kind, id, state, lastupdated, services, record }: RecordStory): string[] {
  return [
    `The ${kind} "${id}" ${STATES[state](lastupdated?.toISOString() ?? 'an unknown time')}.`,
    ...services.map(({ name, matches }) => `Service ${name}: ${matchOf(matches)}`),
    ...(record === null ? [] : [JSON.stringify(record, null, 2)]),
  ];
}

function matchOf(matches: boolean | undefined): string {
  if (matches === undefined) return 'its filter cannot be run';
  return matches ? 'matches, so it is in updates' : 'does not match, so it is in softdeletes';
}
