import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import ts from 'typescript';

const ROOT = join(__dirname, '..', '..');
const { imported } = jest.requireActual<{ imported: (path: string, specifier: string) => string }>(
  '../../lint/room-of.mjs',
);

/** All that pure code may load beside its own kind: neither Nest nor the driver's client is among it. It starts no mongod. */
const isPure = (target: string) =>
  target.startsWith('src/') ? !target.startsWith('src/embedded/') : /^(bson|node:.+)$/.test(target);

/** What works without Nest may load the driver, and what commands of operators need beside it. */
const isPlain = (target: string) =>
  /^(src\/.+|bson|node:.+|mongoose|yaml|@node-rs\/argon2|string-width|cli-progress)$/.test(target);

const sources = (readdirSync(join(ROOT, 'src'), { recursive: true }) as string[])
  .map((name) => `src/${name.replaceAll('\\', '/')}`)
  .filter((path) => path.endsWith('.ts'));
const light = (pattern: RegExp) => sources.filter((path) => pattern.test(path)).map((path) => [path]);

/** Whether the compiler leaves out an import or re-export, since it tells of nothing but types. */
function isOfTypes(statement: ts.ImportDeclaration | ts.ExportDeclaration): boolean {
  const clause = ts.isImportDeclaration(statement) ? statement.importClause : statement;
  if (clause === undefined) return false;
  if (clause.isTypeOnly) return true;
  const named = ts.isImportClause(clause) ? clause.namedBindings : clause.exportClause;
  if (named === undefined || !(ts.isNamedImports(named) || ts.isNamedExports(named))) return false;
  const isWhole = ts.isImportClause(clause) && clause.name !== undefined;
  return !isWhole && named.elements.length > 0 && named.elements.every((element) => element.isTypeOnly);
}

/** What a file loads when it is imported, as written there. A module that the build writes loads nothing. */
function loadedBy(path: string, text = sourceOf(path)): string[] {
  const { statements } = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
  return statements
    .filter((statement) => ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement))
    .filter((statement) => statement.moduleSpecifier !== undefined && !isOfTypes(statement))
    .map((statement) => (statement.moduleSpecifier as ts.StringLiteral).text);
}

function sourceOf(path: string): string {
  return existsSync(join(ROOT, path)) ? readFileSync(join(ROOT, path), 'utf8') : '';
}

/** The shortest way on which a file leads to each thing that is not light. */
function heavyWays(path: string, isLight: (target: string) => boolean): string[] {
  const ways = new Map([[path, [path]]]);
  const heavy: string[] = [];
  for (const [file, way] of ways) {
    for (const specifier of loadedBy(file)) {
      const isOwn = specifier.startsWith('.');
      const target = isOwn ? imported(file, specifier) : specifier;
      if (ways.has(target)) continue;
      if (isLight(target)) {
        if (isOwn) ways.set(target, [...way, target]);
      } else if (!heavy.some((known) => known.endsWith(` -> ${target}`)))
        heavy.push([...way, target].join(' -> '));
    }
  }
  return heavy;
}

describe('what is pure loads neither Nest nor the driver’s client nor the embedded mongod', () => {
  it.each([
    ...light(/^src\/replication\/protocol\//),
    ...light(/^src\/replication\/feed\/query\/window\.ts$/),
    ...light(/^src\/member\/merge\.ts$/),
    ...light(/\/pure\.ts$/),
  ])('%s', (path) => {
    expect(heavyWays(path, isPure)).toEqual([]);
  });
});

describe('what is plain, and every command of operators, works without Nest', () => {
  it.each([
    ...light(/^src\/(cli|tidemark)\.entry\.ts$/),
    ...light(/\/plain\.ts$/),
    ...light(/^src\/administration\/cli\//),
  ])('%s', (path) => {
    expect(heavyWays(path, isPlain)).toEqual([]);
  });
});

describe('what tells so', () => {
  it('sees what loads a module, and what is of types only', () => {
    const text = `
      import 'a';
      import b from 'b';
      import { type B, c } from 'c';
      import * as d from 'd';
      export * from 'e';
      export { f } from 'f';
      import type { G } from 'g';
      import { type H } from 'h';
      export type { I } from 'i';
      export { type J } from 'j';
      export const k = 1;`;
    expect(loadedBy('any.ts', text)).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    expect(heavyWays('src/replication/watcher/effects/effects.ts', isPure)).toContain(
      'src/replication/watcher/effects/effects.ts -> @nestjs/common',
    );
  });

  it('the BSON that pure code loads is the one of the driver, which takes no values of another version', () => {
    const own = createRequire(join(ROOT, 'package.json'));
    const ofDriver = createRequire(createRequire(own.resolve('mongoose')).resolve('mongodb'));
    expect(own.resolve('bson')).toBe(ofDriver.resolve('bson'));
  });
});
