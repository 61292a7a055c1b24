/** Defines `findInPages(query)`. Runs after `minisearch.js` and `sections.js`. */
const found = 15;
const commonWords = new Set(
  'a an and are as at be by can do does for how i in is it of on or the to what with'.split(' '),
);
/** It names everything, so it would come before the page that explains it. */
const changelog = { name: 'CHANGELOG.html', weight: 0.2 };

const index = new MiniSearch({
  fields: ['title', 'page', 'text'],
  storeFields: ['title', 'page', 'text'],
  processTerm: (term) => (commonWords.has(term.toLowerCase()) ? null : stem(term.toLowerCase())),
  searchOptions: {
    boost: { title: 4, page: 3 },
    prefix: true,
    fuzzy: (term) => (term.length > 4 ? 0.2 : false),
    combineWith: 'AND',
    boostDocument: (id) => (id.startsWith(changelog.name) ? changelog.weight : 1),
  },
});
index.addAll(SECTIONS);

/** The sections that have all words of the query, or words that begin like them, the best first. */
globalThis.findInPages = (query) => index.search(query).slice(0, found);

/** Makes "upgrade", "upgrades" and "upgrading" one term. */
function stem(term) {
  return term.length > 4 ? term.replace(/(ings?|e[ds]?|s)$/, '') : term;
}
