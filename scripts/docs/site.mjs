/** All files of the site, as of a repository: `files` are its paths, and `read` answers the text of one. */
import { addressFrom, followLinks, placeOf } from './links.mjs';
import { contentOf, contentOfSource, layOut } from './layout.mjs';
import { navigationOf, readPages } from './pages.mjs';

/** Where each asset comes from. The palette and the frame are the console's. */
const ASSETS = {
  'assets/icon.svg': 'console/public/assets/icon.svg',
  'assets/palette.css': 'console/src/palette.css',
  'assets/frame.css': 'console/src/frame.css',
  'assets/style.css': 'scripts/docs/assets/style.css',
  'assets/page.js': 'scripts/docs/assets/page.js',
  'assets/search.js': 'scripts/docs/assets/search.js',
  'assets/minisearch.js': 'node_modules/minisearch/dist/umd/index.js',
  'assets/minisearch.LICENSE.txt': 'node_modules/minisearch/LICENSE.txt',
};

/** Both are by path on the site: `texts` are the contents to write, `copies` are the files to copy. */
export function siteOf({ files, read }) {
  const pages = readPages({ files, read });
  const navigation = navigationOf(pages);
  const linked = [...followLinks(pages, files)];
  const [texts, copies] = [new Map(), new Map(Object.entries(ASSETS))];
  for (const page of pages.values())
    texts.set(placeOf(page.path), layOut({ ...page, content: contentOf(page) }, navigation));
  for (const path of linked) {
    const place = placeOf(path);
    if (place === path) copies.set(place, path);
    else
      texts.set(place, layOut({ path, title: path, content: contentOfSource(path, read(path)) }, navigation));
  }
  texts.set('assets/sections.js', `globalThis.SECTIONS = ${JSON.stringify(sectionsOf(pages))};\n`);
  return { texts, copies };
}

/** What the search looks through: a section is what follows a heading. It is a script, which works from a file as well. */
function sectionsOf(pages) {
  return [...pages.values()].flatMap(({ path, title, sections }) =>
    sections.map((section) => ({
      id: `${addressFrom('index.html', placeOf(path))}${section.depth === 1 ? '' : `#${section.id}`}`,
      page: title,
      title: section.title,
      text: section.text.replace(/\s+/g, ' ').trim(),
    })),
  );
}
