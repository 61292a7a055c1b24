import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..', '..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** The actions in the role that docs/roles.js creates. */
function actionsOfScript(): string[] {
  const [, privileges = ''] = /^const privileges = \[(.+?)^\];$/ms.exec(read('docs/roles.js')) ?? [];
  const lists = [...privileges.matchAll(/actions: \[(.*?)\]\s*,?\s*\}/gs)].map(([, list]) => list!);
  return lists.flatMap((list) => [...list.matchAll(/'(\w+)'/g)].map(([, action]) => action!));
}

/** Those that the page lists, with what is lost without each. */
function actionsOfPage(): string[] {
  const [, section = ''] = /^## Roles$(.+?)^## /ms.exec(read('docs/operating.md')) ?? [];
  const cells = [...section.matchAll(/^\| (`[^|]+`) +\|/gm)].map(([, cell]) => cell!);
  return cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, action]) => action!));
}

it('docs/operating.md says of each action of docs/roles.js what is lost without it, and of no other', () => {
  const inScript = new Set(actionsOfScript());
  expect(new Set(actionsOfPage())).toEqual(inScript);
  expect(inScript.size).toBe(13);
});
