import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileVariable, settingTable } from '../../../src/platform/config/index.js';

const page = readFileSync(join(__dirname, '..', '..', '..', 'docs', 'settings.md'), 'utf8');
const ROW = /^\| `([A-Z_]+)` +\| (?:`([^`]*)`)? +\| .+ \|$/gm;

/** A default as the page shows it: a switch as `on` or `off`, a missing one as empty text. */
function shown({ type, fallback }: (typeof settingTable)[keyof typeof settingTable]): string {
  if (typeof fallback === 'boolean') return type === 'production' ? '' : fallback ? 'on' : 'off';
  return typeof fallback === 'string' || typeof fallback === 'number' ? String(fallback) : '';
}

it('docs/settings.md lists every setting with its default, in the order of the table; below a secret one, its file', () => {
  const listed = [...page.matchAll(ROW)].map(([, name, value = '']) => [name, value]);
  const expected = Object.values(settingTable).flatMap((setting) => [
    [setting.env, shown(setting)],
    ...(setting.isSecret === true ? [[fileVariable(setting), '']] : []),
  ]);
  expect(listed).toEqual(expected);
});
