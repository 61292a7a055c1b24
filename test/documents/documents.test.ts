/**
 * Every command that the README, CONTRIBUTING and `docs/` name is typed once in a fresh clone, but for `npm ci`, with which
 * `.ci/run` begins.
 */
import { Clone } from './clone.js';
import { commandsOf } from './commands.js';
import { Demo } from './demo.js';
import { beginLongOnes, WAYS } from './ways.js';

const FIRST = 'npm ci && npm start';
const START_MS = 5 * 60_000;
jest.setTimeout(5 * 60_000);

const clone = Clone.make();
const commands = [...new Set(clone.documents().flatMap(commandsOf))];
const wayOf = (command: string) => WAYS.find(({ of }) => of.test(command));

let demo: Demo;
beforeAll(async () => {
  demo = await Demo.start(clone, FIRST.replace('npm ci && ', ''));
  beginLongOnes(clone);
}, START_MS);
afterAll(() => clone.remove());

it.each(commands)('%s', async (command) => {
  const way = wayOf(command);
  if (way === undefined) throw new Error(`Nobody has said how "${command}" is run: add it to ways.ts.`);
  await way.run(command, { clone, demo });
});

it('there are commands of every sort that this test knows', () => {
  const used = commands.map(wayOf);
  expect(WAYS.filter((way) => !used.includes(way)).map(({ of }) => of.source)).toEqual([]);
});
