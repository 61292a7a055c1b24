import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

type Part = [part: string, module: string, className: string, methods: string[]];

const ROOT = join(__dirname, '..', '..', '..');
const { PARTS } = jest.requireActual<{ PARTS: Part[] }>('../../../bench/machine/watcher-parts.mjs');

/** The names of the methods of a class in the source. */
function methodsIn(module: string, className: string): string[] {
  const path = join(ROOT, 'src/replication', `${module}.ts`);
  const { statements } = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest);
  const found = statements.find((one) => ts.isClassDeclaration(one) && one.name?.text === className);
  const members = (found as ts.ClassDeclaration | undefined)?.members ?? [];
  return members.filter(ts.isMethodDeclaration).map(({ name }) => (name as ts.Identifier).text);
}

it.each(PARTS)('the bench measures %s where the source has it: %s', (_part, module, className, methods) => {
  expect(methodsIn(module, className)).toEqual(expect.arrayContaining(methods));
});
