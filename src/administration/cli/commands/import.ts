import { assertApplication, type ChangeContext, type RecordScope } from '../../plain.js';
import { count, UsageError } from '../../../platform/common/index.js';
import { pluralOfKind } from '../../../kinds/index.js';
import type { Run } from '../command.js';
import type { importCommand } from '../descriptions.js';
import { importRecords, type ImportSummary } from '../import/index.js';
import { inputFile, linesIn, scopeOf } from '../input.js';
import { noted, noteRecords } from './records.js';
import { counted } from '../table.js';
import { changeContextOf } from '../session.js';

export const runImport: Run<typeof importCommand> = async (
  context,
  { mirror, expect: lines, strict, 'dry-run': dryRun, ...names },
  name,
) => {
  const scope = scopeOf(names);
  const expected = lines === undefined ? undefined : linesIn('expect', lines);
  if (expected !== undefined && !mirror) throw new UsageError('--expect requires --mirror.');
  const file = await inputFile(name, context.terminal.input);
  const connection = await (dryRun ? context.connected() : context.prepared());
  const changeContext = changeContextOf(context, connection);
  await assertApplication(changeContext.db, scope.tenant);
  const stop = context.terminal.interruptible();
  const progress = context.progress(file.size, 'lines');
  const source = file.open(stop);
  const made: Made = { created: 0, changed: 0, removed: 0 };
  const work = importRecords(changeContext.db, {
    ...{ source, ...scope, mirror, expected, strict, stop, dryRun },
    hasChanged: () => file.hasChanged(),
    onBadLine: (number, reason) => progress.badLine(number, reason),
    onProgress: (lines, bytes) => progress.at(lines, bytes),
    onWritten: ({ created, changed, removed }) => {
      made.created += created;
      made.changed += changed;
      made.removed += removed;
    },
  }).finally(() => {
    source.destroy();
    progress.end();
  });
  const summary = dryRun ? await work : await noted(work, () => noteImport(changeContext, scope, made));
  return { text: linesOf(summary).join('\n'), json: summary, failure: failureOf(summary) };
};

/** The numbers of created, changed and removed records. */
interface Made {
  created: number;
  changed: number;
  removed: number;
}

/** An import that changes no record is not added to the audit trail. */
async function noteImport(
  changeContext: ChangeContext,
  scope: RecordScope,
  { created, changed, removed }: Made,
): Promise<void> {
  if (created + changed + removed === 0) return;
  const parts = [`${count(created)} created`, `${count(changed)} changed`];
  if (removed > 0) parts.push(`${count(removed)} removed`);
  const target = `${pluralOfKind(scope.kind)}: ${parts.join(', ')}`;
  await noteRecords(changeContext, scope, { action: 'record.import', target });
}

function linesOf({ lines, created, changed, unchanged, bad, removed, dryRun }: ImportSummary): string[] {
  const be = dryRun === undefined ? '' : 'would be ';
  const parts = [
    `${count(created)} ${be}created`,
    `${count(changed)} ${be}changed`,
    `${count(unchanged)} unchanged`,
  ];
  if (removed !== undefined) parts.push(`${count(removed)} ${be}removed`);
  const first = `${counted(lines, 'line')}: ${parts.join(', ')}, ${count(bad)} bad.`;
  if (dryRun === undefined) return [first];
  const shown = Object.entries(dryRun.first).filter(([, ids]) => ids.length > 0);
  return [
    first,
    ...shown.map(([what, ids]) => `The first that would be ${what}: ${ids.join(', ')}`),
    'Nothing was written.',
  ];
}

function failureOf({ bad, incomplete, dryRun }: ImportSummary): string | undefined {
  const [start, left] =
    dryRun === undefined ? ['The import is not complete', 'left out'] : ['Not complete', 'would be left out'];
  if (incomplete !== undefined) return `${start}: ${incomplete}.`;
  return bad > 0 ? `${counted(bad, 'bad line')} ${left}.` : undefined;
}
