/** Checks every link of the pages, and turns those to files of the repository into links of the site. */
import { dirname, posix } from 'node:path';
import { linksOf, resolved } from './pages.mjs';

const PICTURE = /\.(png|svg|jpe?g|gif)$/;
/** Another site: a build works without a network, so these are not followed. */
const EXTERNAL = /^(https?|mailto):/;

export class BrokenLinks extends Error {}

/** Where a file of the repository is on the site. A source has a page of its own, since a browser would download many. */
export function placeOf(path) {
  if (PICTURE.test(path)) return path;
  if (!path.endsWith('.md')) return `${path}.html`;
  return path.replace(/README\.md$/, 'index.html').replace(/\.md$/, '.html');
}

/** The relative address of one place of the site, as seen from another. */
export function addressFrom(place, target) {
  return posix.relative(dirname(place), target);
}

/**
 * Sets `href` of all links to addresses of the site. Answers the files other than pages that are linked, and throws
 * `BrokenLinks` with a sentence for each link that leads nowhere.
 */
export function followLinks(pages, files) {
  const there = new Set(files);
  const [linked, broken] = [new Set(), []];
  for (const page of pages.values()) {
    for (const link of linksOf(page)) {
      if (EXTERNAL.test(link.href)) continue;
      const [target, anchor] = link.href.split('#');
      const path = resolved(page.path, decodeURI(target));
      const wrong = fault(path, anchor, { pages, there });
      if (wrong !== undefined) {
        broken.push(`${page.path} links to ${link.href}, but ${wrong}.`);
        continue;
      }
      if (!pages.has(path)) linked.add(path);
      const address = target === '' ? '' : addressFrom(placeOf(page.path), placeOf(path));
      link.href = anchor === undefined ? address : `${address}#${anchor}`;
    }
  }
  if (broken.length > 0) throw new BrokenLinks(broken.join('\n'));
  return linked;
}

function fault(path, anchor, { pages, there }) {
  if (!there.has(path)) return `the repository has no file ${path}`;
  if (anchor === undefined) return undefined;
  const page = pages.get(path);
  if (page === undefined) return `${path} is no page, so it has no anchors`;
  return page.anchors.has(anchor) ? undefined : `${path} has no heading with the anchor #${anchor}`;
}
