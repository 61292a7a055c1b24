import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { isSetting, read, ROOT } from './files.js';

const page = read('docs/deploying.md');
const blocks = [...page.matchAll(/^```(\w+)\n([^]*?)^```$/gm)];
const commands = blocks.filter(([, language]) => language === 'bash').map(([, , text]) => text!);

/** Whether an object has a value at a path such as `a.b`, or is open at a part of it. */
function has(values: unknown, path: string): boolean {
  const [key = '', ...rest] = path.split('.');
  if (typeof values !== 'object' || values === null) return false;
  if (Object.keys(values).length === 0) return true;
  return (
    key in values && (rest.length === 0 || has((values as Record<string, unknown>)[key], rest.join('.')))
  );
}

describe('docs/deploying.md', () => {
  it('names settings that the service has', () => {
    const named = page.match(/\b[A-Z]+_[A-Z_]+\b/g) ?? [];
    expect(named).toContain('MONGODB_URI_FILE');
    expect(named.filter((name) => !isSetting(name))).toEqual([]);
  });

  it('names files that are there, in its commands too', () => {
    const linked = page.match(/\bdeploy\/[\w./-]*\w/g) ?? [];
    expect(linked.length).toBeGreaterThan(8);
    expect(linked.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
    expect(commands.join('\n').match(/dist\/\w+\.js/g)).toContain('dist/cli.js');
  });

  it('sets values that the chart has', () => {
    const values = parse(read('deploy/helm/tidemark/values.yaml')) as unknown;
    const set = [...commands.join('\n').matchAll(/--set(?:-file)? ([\w.]+)=/g)].map(([, path]) => path!);
    const examples = blocks
      .filter(([, language]) => language === 'yaml')
      .map(([, , text]) => parse(text!) as object);
    const leaves = (value: unknown, path: string[] = []): string[] =>
      typeof value !== 'object' || value === null
        ? [path.join('.')]
        : Object.entries(value).flatMap(([key, one]) => leaves(one, [...path, key]));
    const all = [...set, ...examples.flatMap((example) => leaves(example))];
    expect(all.length).toBeGreaterThan(8);
    expect(all.filter((path) => !has(values, path))).toEqual([]);
  });

  it('says of each group of commands whether it was run', () => {
    const sections = page.split(/^## /m).filter((section) => section.includes('```bash'));
    expect(
      sections.filter((section) => !/not run|was run/.test(section)).map((text) => text.split('\n')[0]),
    ).toEqual([]);
  });
});
