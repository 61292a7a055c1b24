/** The Markdown files of the repository as pages: their tokens, headings, anchors and sections, and the navigation. */
import { dirname, posix } from 'node:path';
import Slugger from 'github-slugger';
import { marked } from 'marked';

/** Lists the pages in the order of the navigation, below a heading for each kind of reader. */
export const MAP = 'docs/README.md';
/** The page that the site begins with. */
export const HOME = 'README.md';

/** The repository's pages by path. Anchors are those of GitHub, so that a link works on a forge and on the site. */
export function readPages({ files, read }) {
  return new Map(
    files.filter((path) => path.endsWith('.md')).map((path) => [path, pageOf(path, read(path))]),
  );
}

function pageOf(path, text) {
  const tokens = marked.lexer(text);
  const slugger = new Slugger();
  const sections = [];
  for (const token of tokens) {
    const plain = textOf(token);
    if (token.type === 'heading') {
      token.id = slugger.slug(plain);
      sections.push({ id: token.id, depth: token.depth, title: plain, text: '' });
    } else if (sections.length > 0) sections.at(-1).text += `${plain} `;
  }
  if (sections[0]?.depth !== 1)
    throw new Error(`${path} does not begin with a title, such as "# Operating".`);
  return { path, tokens, sections, title: sections[0].title, anchors: new Set(sections.map(({ id }) => id)) };
}

/** The text of a token as a reader sees it. */
export function textOf(token) {
  if (token.type === 'table')
    return [token.header, ...token.rows]
      .flat()
      .map((cell) => cell.tokens.map(textOf).join(''))
      .join(' ');
  if (token.type === 'list') return token.items.map(textOf).join(' ');
  if (token.tokens !== undefined && token.tokens.length > 0) {
    const isInline = ['paragraph', 'heading', 'text', 'link', 'strong', 'em', 'del'].includes(token.type);
    return token.tokens.map(textOf).join(isInline ? '' : ' ');
  }
  return token.text ?? '';
}

/** All links and images of a page. */
export function linksOf({ tokens }) {
  const links = [];
  marked.walkTokens(tokens, (token) => {
    if (token.type === 'link' || token.type === 'image') links.push(token);
  });
  return links;
}

/** A path that a page refers to, as a path of the repository; `''` means the page itself. */
export function resolved(page, target) {
  return target === '' ? page : posix.normalize(posix.join(dirname(page), target));
}

/**
 * The navigation: a group for each heading of the map, with the pages that its list links to. A page of `docs/` that neither the
 * map nor a page of the map's folders lists is an error, because no reader would find it.
 */
export function navigationOf(pages) {
  const groups = [];
  for (const token of pages.get(MAP).tokens) {
    if (token.type === 'heading' && token.depth > 1) groups.push({ title: textOf(token), entries: [] });
    if (token.type === 'list') groups.at(-1).entries.push(...entriesOf(MAP, token));
  }
  for (const entry of groups.flatMap(({ entries }) => entries)) {
    if (posix.basename(entry.path) !== 'README.md' || entry.path === HOME) continue;
    const lists = pages.get(entry.path)?.tokens.filter(({ type }) => type === 'list') ?? [];
    const below = lists.flatMap((list) => entriesOf(entry.path, list));
    entry.below = below.filter(({ path }) => dirname(path) === dirname(entry.path));
  }
  const listed = groups.flatMap(({ entries }) => entries.flatMap((entry) => [entry, ...(entry.below ?? [])]));
  const found = new Set([MAP, ...listed.map(({ path }) => path)]);
  const lost = [...pages.keys()].filter((path) => path.startsWith('docs/') && !found.has(path));
  if (lost.length > 0) throw new Error(`${MAP} does not list ${lost.join(', ')}: add a line for each page.`);
  return { groups, order: listed.map(({ path }) => path) };
}

function entriesOf(page, list) {
  return list.items.flatMap((item) => {
    const [link] = linksOf(item);
    const path = link === undefined ? '' : resolved(page, link.href.split('#')[0]);
    return path.endsWith('.md') ? [{ path, title: textOf(link) }] : [];
  });
}
