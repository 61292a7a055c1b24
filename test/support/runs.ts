/** A twentieth of the random cases is enough while somebody writes; `npm test` and CI run all of them. */
const QUICK_SHARE = 20;

/** How many random cases a test looks at. */
export function runs(whole: number): number {
  return process.env['TIDEMARK_TEST_QUICK'] === undefined ? whole : Math.ceil(whole / QUICK_SHARE);
}
