/**
 * `npm run bench`: what this service costs, compared with others and with the minimum possible cost (docs/performance.md).
 * `--plan` prints what would be measured. Linux only: CPU time comes from /proc. Exit code 1 if a measure failed, or if a count misses its target.
 */
import 'reflect-metadata';
import { existsSync, writeFileSync } from 'node:fs';
import { say } from './machine/say.mjs';
import { measures } from './measures/index.mjs';
import { readOptions } from './options.mjs';
import { Stage } from './stage.mjs';
import { isWrong, tableOf } from './table.mjs';

try {
  if (!existsSync('/proc/self/stat'))
    throw new Error('The bench runs on Linux only: it reads CPU time from /proc.');
  const options = readOptions(Object.keys(measures));
  if (options.isPlan) {
    console.log(JSON.stringify(options, null, 2));
    process.exit(0);
  }
  const stage = await Stage.open(options);
  const rows = await allRows(stage);
  await stage.close();
  console.log(tableOf(rows));
  if (options.json !== undefined)
    writeFileSync(options.json, `${JSON.stringify({ options, rows }, null, 2)}\n`);
  process.exit(rows.some(isWrong) ? 1 : 0);
} catch (error) {
  console.error(error.message);
  process.exit(1);
}

async function allRows(stage) {
  const rows = [];
  for (const [name, measure] of Object.entries(measures)) {
    if (!stage.options.only.includes(name)) continue;
    say(`\n== ${name}`);
    for (const row of await rowsOf(name, measure, stage)) rows.push({ measure: name, ...row });
  }
  return rows;
}

/** A measure that fails is one failed row; the others go on. */
async function rowsOf(name, measure, stage) {
  try {
    return await measure(stage);
  } catch (error) {
    say(error.stack);
    return [{ figure: name, failure: error.message }];
  } finally {
    await stage.stopServers();
  }
}
