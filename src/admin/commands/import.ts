import { assertApplication } from '../../administration/index.js';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { addAbortSignal } from 'node:stream';
import { count, FatalError } from '../../common/index.js';
import { defineCommand } from '../command.js';
import { importRecords, type ImportSummary } from '../import/index.js';
import { APPLICATION, KIND, kindOf, tenantOf } from '../options.js';
import { counted } from '../print.js';
import { databaseOf } from '../session.js';

const CHUNK = 256 * 1024;

export const importCommand = defineCommand({
  name: 'import',
  summary: 'Import records from a file, or from stdin (-)',
  argument: 'FILE.ndjson|-',
  options: {
    ...APPLICATION,
    ...KIND,
    mirror: { description: 'remove the records that the file lacks, if every line was good' },
    strict: { description: 'stop at the first bad line; what was imported before it stays' },
  },
  notes: [
    'Each line is a JSON object {id, data, channels?, type?, createDate?, createdBy?}.',
    'Records are found by id; what a line leaves out stays as it is.',
    'A record that is equal already is left alone; any other gets a new lastupdated.',
    'A bad line is told on stderr with its number, and the others are imported; the exit code is 1 then.',
    'Values stay what JSON makes of them: dates are texts, and whole numbers beyond 2^53 lose digits.',
  ],
  async run(context, { mirror, strict, ...names }, file) {
    const tenant = tenantOf(names);
    const kind = kindOf(names);
    const size = file === '-' ? undefined : await sizeOf(file);
    const db = databaseOf(await context.prepared());
    await assertApplication(db, tenant);
    const { input } = context.terminal;
    const progress = context.progress(size, 'lines');
    const stop = context.terminal.interruptible();
    const source = addAbortSignal(
      stop,
      file === '-' ? input : createReadStream(file, { highWaterMark: CHUNK }),
    );
    const summary = await importRecords(db, {
      ...{ source, tenant, kind, mirror, strict, stop },
      onBadLine: (number, reason) => progress.badLine(number, reason),
      onProgress: (lines, bytes) => progress.at(lines, bytes),
    }).finally(() => {
      source.destroy();
      progress.end();
    });
    return { text: textOf(summary), json: summary, failure: failureOf(summary) };
  },
});

async function sizeOf(file: string): Promise<number> {
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => {
    throw new FatalError(`${file} cannot be read: ${error.code ?? error.message}.`);
  });
  if (found.isDirectory()) throw new FatalError(`${file} is a directory.`);
  return found.size;
}

function textOf({ lines, created, changed, unchanged, bad, removed }: ImportSummary): string {
  const parts = [`${count(created)} created`, `${count(changed)} changed`, `${count(unchanged)} unchanged`];
  if (removed !== undefined) parts.push(`${count(removed)} removed`);
  return `${counted(lines, 'line')}: ${parts.join(', ')}, ${count(bad)} bad.`;
}

function failureOf({ bad, incomplete }: ImportSummary): string | undefined {
  if (incomplete !== undefined) return `The import is not complete: ${incomplete}.`;
  return bad > 0 ? `${counted(bad, 'bad line')} left out.` : undefined;
}
