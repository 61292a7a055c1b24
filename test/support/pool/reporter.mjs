import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import cliProgress from 'cli-progress';
import { failuresOf } from './failures.mjs';
import { planned } from './runner.mjs';

const MINUTE = 60_000;
const SLOWEST = 10;
/** Of one file: many failures of a file have one cause. */
const SHOWN = 5;

/**
 * What a person who waits for a run sees: on a terminal a line for each project with how far it is; each failure at once,
 * with the command that repeats it alone; at the end the time of each project and the slowest files. A project of which no
 * test ran has failed. With TIDEMARK_TEST_REPORT, a file of that name gets the counts as JSON.
 */
export default class PoolReporter {
  #begun = performance.now();
  #shown = this.#begun;
  #seed;
  #root;
  #projects = new Map();
  #bars;
  #files = [];
  #failures = [];

  constructor({ seed, rootDir }) {
    this.#seed = seed;
    this.#root = rootDir;
  }

  onRunStart() {
    console.log(`The order of the files is that of the seed ${this.#seed}.`);
  }

  onTestFileStart() {
    if (this.#projects.size === 0) this.#begin();
  }

  #begin() {
    const width = Math.max(...[...planned.keys()].map((name) => name.length));
    if (process.stdout.isTTY)
      this.#bars = new cliProgress.MultiBar(
        {
          format: '{name} {bar} {value}/{total}  {passed} passed, {failed} failed  {time}',
          hideCursor: true,
        },
        cliProgress.Presets.shades_classic,
      );
    for (const [name, total] of planned) {
      const counts = { name: name.padEnd(width), passed: 0, failed: 0, time: '' };
      this.#projects.set(name, {
        ...{ total, done: 0, passed: 0, failed: 0, seconds: 0 },
        ...{ label: counts.name, bar: this.#bars?.create(total, 0, counts) },
      });
    }
  }

  onTestFileResult({ context, path }, result) {
    const name = context.config.displayName.name;
    const project = this.#projects.get(name);
    const failures = failuresOf(name, result, { root: this.#root, seed: this.#seed });
    project.done += 1;
    project.passed += result.numPassingTests;
    project.failed += failures.length;
    const seconds = (result.perfStats.end - result.perfStats.start) / 1000 || 0;
    project.seconds += seconds;
    this.#files.push({ name, path: relative(this.#root, path), seconds });
    this.#failures.push(...failures);
    for (const failure of failures.slice(0, SHOWN)) this.#say(`FAILED ${failure}\n`);
    if (failures.length > SHOWN)
      this.#say(`and ${failures.length - SHOWN} more of ${relative(this.#root, path)}\n`);
    this.#show(project);
    this.#showFiles();
  }

  /** Where the lines do not change, how far all of it is, once a minute. */
  #showFiles() {
    const now = performance.now();
    if (this.#bars !== undefined || now - this.#shown < MINUTE) return;
    this.#shown = now;
    const total = [...this.#projects.values()].reduce((sum, project) => sum + project.total, 0);
    this.#say(`${this.#files.length}/${total} files after ${minutes((now - this.#begun) / 1000)}`);
  }

  #show(project) {
    const { label, done, total, passed, failed, bar } = project;
    const time = minutes((performance.now() - this.#begun) / 1000);
    bar?.update(done, { passed, failed, time });
    if (bar === undefined && done === total)
      this.#say(`${label}  ${done}/${total} files, ${passed} passed, ${failed} failed, after ${time}`);
  }

  /** Above the lines that change. */
  #say(text) {
    if (this.#bars === undefined) console.log(text);
    else this.#bars.log(`${text}\n`);
  }

  onRunComplete() {
    this.#bars?.stop();
    for (const [name, project] of this.#projects)
      if (project.passed === 0 && project.failed === 0) {
        project.failed = 1;
        this.#failures.push(`${name}: no test ran.`);
        console.log(`FAILED ${this.#failures.at(-1)}`);
      }
    this.#showTimes();
    const { TIDEMARK_TEST_REPORT: file } = process.env;
    if (file !== undefined) writeFileSync(file, JSON.stringify(this.#report()));
  }

  #showTimes() {
    console.log('\nSeconds of each project, all workers together:');
    for (const { label, seconds, total } of this.#projects.values())
      console.log(`${String(Math.round(seconds)).padStart(6)}  ${label}  ${total} files`);
    console.log('The slowest files:');
    const slowest = this.#files.sort((one, other) => other.seconds - one.seconds).slice(0, SLOWEST);
    for (const { seconds, path, name } of slowest)
      console.log(`${String(Math.round(seconds)).padStart(6)}  ${path} (${name})`);
  }

  #report() {
    const sum = (key) => [...this.#projects.values()].reduce((total, project) => total + project[key], 0);
    return { passed: sum('passed'), failed: sum('failed'), failures: this.#failures };
  }

  /** Jest asks for it: an error here fails the run. */
  getLastError() {
    const { passed, failures } = this.#report();
    return passed > 0 && failures.length === 0 ? undefined : new Error(`${failures.length} failed`);
  }
}

function minutes(seconds) {
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}
