/** The HTML of a page: its content, and the header and the navigation around it. */
import { Marked } from 'marked';
import { addressFrom, placeOf } from './links.mjs';
import { HOME, MAP } from './pages.mjs';

const SPECIAL = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export function escaped(text) {
  return text.replace(/[&<>"]/g, (character) => SPECIAL[character]);
}

/** What scrolls sideways can have the keyboard's focus, so that the arrow keys scroll it. */
const markdown = new Marked({
  renderer: {
    heading({ tokens, depth, id }) {
      return `<h${depth} id="${id}"><a class="anchor" href="#${id}">${this.parser.parseInline(tokens)}</a></h${depth}>\n`;
    },
    code({ text, lang }) {
      const language = lang ? ` class="language-${escaped(lang)}"` : '';
      return `<pre tabindex="0"><code${language}>${escaped(text)}\n</code></pre>\n`;
    },
    table(token) {
      const row = (cells) => `<tr>${cells.map((cell) => this.tablecell(cell)).join('')}</tr>`;
      const head = token.header.some(({ text }) => text !== '') ? `<thead>${row(token.header)}</thead>` : '';
      const body = token.rows.map(row).join('\n');
      return `<div class="table" role="group" aria-label="Table" tabindex="0"><table>${head}<tbody>${body}</tbody></table></div>\n`;
    },
  },
});

export function contentOf({ tokens }) {
  return markdown.parser(tokens);
}

/** The content of a source that a page links to. */
export function contentOfSource(path, text) {
  return `<h1>${escaped(path)}</h1>\n<pre tabindex="0"><code>${escaped(text)}</code></pre>\n`;
}

/** A whole page. `path` is the file that it shows; `sections` are listed below its entry of the navigation. */
export function layOut({ path, title, content, sections = [] }, { groups, order }) {
  const place = placeOf(path);
  const to = (target) => addressFrom(place, target);
  const link = (target, name) =>
    `<a href="${to(placeOf(target))}"${target === path ? ' aria-current="page"' : ''}>${escaped(name)}</a>`;
  const within = sections
    .filter(({ depth }) => depth === 2)
    .map(({ id, title: name }) => `<li><a href="#${id}">${escaped(name)}</a></li>`);
  const entry = ({ path: target, title: name, below = [] }) => {
    const isHere = target === path || below.some((one) => one.path === path);
    const inner = [...(target === path ? within : []), ...(isHere ? below.map(entry) : [])];
    return `<li>${link(target, name)}${inner.length > 0 ? `<ul>${inner.join('\n')}</ul>` : ''}</li>`;
  };
  const lists = groups.map(
    (group) => `<h2>${escaped(group.title)}</h2>\n<ul>${group.entries.map(entry).join('\n')}</ul>`,
  );
  const at = order.indexOf(path);
  const turn = (target, name) =>
    target === undefined ? '' : `<li>${name}: ${link(target, titleIn(groups, target))}</li>`;
  const turns =
    at < 0 ? '' : `<ul class="turns">${turn(order[at - 1], 'Previous')}${turn(order[at + 1], 'Next')}</ul>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}${path === HOME ? '' : ' · Tidemark'}</title>
<link rel="icon" type="image/svg+xml" href="${to('assets/icon.svg')}">
<link rel="stylesheet" href="${to('assets/palette.css')}">
<link rel="stylesheet" href="${to('assets/frame.css')}">
<link rel="stylesheet" href="${to('assets/style.css')}">
<script src="${to('assets/page.js')}" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<a class="brand" href="${to(placeOf(HOME))}">Tidemark</a>
<form role="search" hidden><input type="search" aria-label="Search all pages" title="Search all pages: press /" placeholder="Search" autocomplete="off"></form>
<a class="to-pages" href="#pages">Pages</a>
</header>
<main id="content" tabindex="-1">
<section id="found" aria-label="Search results" aria-live="polite" hidden></section>
<article>
${content}</article>
${turns}
</main>
<nav id="pages" aria-label="Pages">
<ul><li>${link(HOME, 'Home')}</li><li>${link(MAP, 'All pages')}</li></ul>
${lists.join('\n')}
</nav>
</body>
</html>
`;
}

function titleIn(groups, path) {
  const entries = groups.flatMap(({ entries: own }) => own.flatMap((one) => [one, ...(one.below ?? [])]));
  return entries.find((one) => one.path === path).title;
}
