/**
 * `npm run test:seeded-faults -- [--only NAME] [--list]`: seeds one small fault after the other into a copy of the working
 * state, and runs the tests that are there to find it. A fault that no test finds is a rule that no test keeps. It ends with
 * the line of `npm test`.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Compiler } from './seeded-faults/compiling.mjs';
import { copyOf, removeCopy } from './seeded-faults/copy.mjs';
import { FAULTS } from './seeded-faults/faults.mjs';
import { SharedReplicaSet } from './seeded-faults/replica-set.mjs';
import { faulty, seed } from './seeded-faults/seeding.mjs';
import { endTests, needsMongodb, projectOf, runTests } from './seeded-faults/testing.mjs';

const root = join(import.meta.dirname, '..');
/** For one fault. */
const limitMs = 5 * 60_000;
/** For all of the files without any fault. */
const limitOfAllMs = 40 * 60_000;
const workers = 2;

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    list: { type: 'boolean', default: false },
  },
});

let isStopped = false;

const chosen = faultsNamed(values.only.flatMap((names) => names.split(',')));
if (values.list) chosen.forEach(list);
else process.exitCode = await seedAll(chosen);

function faultsNamed(names) {
  const unknown = names.filter((name) => !FAULTS.some((fault) => fault.name === name));
  if (unknown.length > 0) {
    console.error(`There is no fault ${unknown.join(', ')}; --list tells all of them.`);
    process.exit(2);
  }
  return names.length === 0 ? FAULTS : FAULTS.filter(({ name }) => names.includes(name));
}

function list({ name, file, from, to, tests }) {
  const shown = (text) => (text === '' ? '(nothing)' : text);
  console.log(`${name}\n  ${file}\n  - ${from}\n  + ${shown(to)}\n  ${tests.join(', ')}`);
}

/** The exit code. */
async function seedAll(faults) {
  const misplaced = faults.flatMap((fault) => placeFault(fault) ?? []);
  misplaced.forEach((line) => console.log(line));
  if (misplaced.length > 0) return end({ caught: 0, hung: 0, missed: misplaced.length });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, stop);
  const copy = copyOf(root);
  const mongodb = new SharedReplicaSet(copy);
  try {
    if (!(await passesWithoutFault(copy, faults, mongodb)))
      return isStopped ? 130 : end({ caught: 0, hung: 0, missed: faults.length });
    const counts = { caught: 0, hung: 0, missed: 0 };
    console.log('\n== With one fault at a time');
    const compiler = new Compiler(copy);
    for (const fault of faults) {
      counts[await seedOne(copy, fault, { mongodb, compiler })] += 1;
      if (isStopped) return 130;
    }
    return end(counts);
  } finally {
    await mongodb.stop();
    removeCopy(copy);
  }
}

/** What runs is ended, and the copy removed as it is at the end. */
function stop() {
  isStopped = true;
  endTests();
}

/** Why a fault cannot be seeded, in a line; nothing where it can. */
function placeFault(fault) {
  try {
    faulty(readFileSync(join(root, fault.file), 'utf8'), fault);
    return undefined;
  } catch ({ message }) {
    return `${fault.name}: ${message}`;
  }
}

/** A test that fails anyway says nothing about a fault. */
async function passesWithoutFault(copy, faults, mongodb) {
  console.log('== Without a fault');
  const tests = [...new Set(faults.flatMap((fault) => fault.tests))];
  for (const project of new Set(tests.map(projectOf))) {
    const files = tests.filter((test) => projectOf(test) === project);
    const begun = performance.now();
    const uri = await mongodb.uriFor(needsMongodb(files));
    const outcome = await runTests(copy, files, { uri, limitMs: limitOfAllMs, workers });
    console.log(`${project}: ${wordsOf(outcome)}, ${secondsSince(begun)}`);
    if (outcome.is === 'passed') continue;
    console.log(outcome.said ?? '');
    return false;
  }
  return true;
}

/** Under which of the counts it goes. */
async function seedOne(copy, fault, { mongodb, compiler }) {
  const begun = performance.now();
  const tell = (how, words) =>
    isStopped || console.log(`${how.padEnd(13)} ${fault.name}: ${words}, ${secondsSince(begun)}`);
  let restore = () => {};
  try {
    restore = seed(copy, compiler, fault);
    const uri = await mongodb.uriFor(needsMongodb(fault.tests));
    const outcome = await runTests(copy, fault.tests, { uri, limitMs });
    const how = { failed: 'caught', hung: 'caught (hang)' }[outcome.is] ?? 'MISSED';
    if (how === 'caught (hang)') await mongodb.stop();
    tell(how, wordsOf(outcome));
    return { caught: 'caught', 'caught (hang)': 'hung', MISSED: 'missed' }[how];
  } catch ({ message }) {
    tell('NOT SEEDED', message);
    return 'missed';
  } finally {
    restore();
  }
}

function wordsOf({ is, file, test, ran, why }) {
  if (is === 'failed') return `${file} › ${test}`;
  if (is === 'hung') return 'the tests had not ended in time';
  return is === 'broken' ? `the tests could not run: ${why}` : `all ${ran} tests pass`;
}

function secondsSince(begun) {
  return `${((performance.now() - begun) / 1000).toFixed(1)} s`;
}

function end({ caught, hung, missed }) {
  console.log(`\n${caught} caught${hung > 0 ? `, ${hung} caught (hang)` : ''}, ${missed} missed`);
  console.log(`${caught + hung} passed, ${missed} failed`);
  return missed === 0 ? 0 : 1;
}
