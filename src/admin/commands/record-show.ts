import { assertApplication, recordStory, type RecordStory } from '../../administration/plain.js';
import type { Run } from '../command.js';
import type { recordShow } from '../descriptions/record.js';
import { kindOf, tenantOf } from '../option-values.js';
import { standingLine } from '../record-lines.js';
import { databaseOf } from '../session.js';

export const run: Run<typeof recordShow> = async (context, { id, ...names }) => {
  const of = { ...tenantOf(names), kind: kindOf(names) };
  const db = databaseOf(await context.connected());
  await assertApplication(db, of);
  const story = await recordStory(db, of, id);
  return { text: linesOf(story).join('\n'), json: story };
};

function linesOf(story: RecordStory): string[] {
  const { services, record } = story;
  return [
    standingLine(story),
    ...services.map(({ name, matches }) => `Service ${name}: ${matchOf(matches)}`),
    ...(record === null ? [] : [JSON.stringify(record, null, 2)]),
  ];
}

function matchOf(matches: boolean | undefined): string {
  if (matches === undefined) return 'its filter cannot be run';
  return matches ? 'matches, so it is in updates' : 'does not match, so it is in softdeletes';
}
