import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { problemsInSource } from '../../support/problems-in-source.js';

/** The rows of the table in contract §3, such as `404 unknown-service`. */
function problemsInContract(): string[] {
  const page = readFileSync(join(__dirname, '../../../docs/contract.md'), 'utf8');
  const [, section = ''] = /^## §3 Errors$(.+?)^## /ms.exec(page) ?? [];
  return [...section.matchAll(/^\| (\d{3}) +\| `([\w-]+)` +\|/gm)].map(
    ([, status, slug]) => `${status} ${slug}`,
  );
}

it('contract §3 has each problem that the service can answer, once, and no other', () => {
  expect(problemsInContract().toSorted()).toEqual([...problemsInSource()].toSorted());
});
