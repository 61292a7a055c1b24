/** The search of a page: results replace its content while the field has text. */
const root = new URL('..', document.currentScript.src);
const excerptLength = 200;

const form = document.querySelector('form[role=search]');
const field = form.querySelector('input');
const results = document.querySelector('#found');
const article = document.querySelector('article');
let loading;

form.hidden = false;
field.addEventListener('focus', load);
field.addEventListener('input', show);
form.addEventListener('submit', (event) => {
  event.preventDefault();
  results.querySelector('a')?.click();
});
document.addEventListener('keydown', (event) => {
  if (event.key === '/' && document.activeElement !== field) {
    event.preventDefault();
    field.focus();
  }
  if (event.key === 'Escape' && field.value !== '') {
    field.value = '';
    show();
    field.focus();
  }
});

/** Scripts, not requests: a browser allows no requests from a page that is opened as a file. */
function load() {
  const script = (name) =>
    new Promise((resolve, reject) => {
      const element = document.createElement('script');
      Object.assign(element, {
        src: new URL(`assets/${name}`, root).href,
        async: false,
        onload: resolve,
        onerror: reject,
      });
      document.head.append(element);
    });
  return (loading ??= Promise.all(['minisearch.js', 'sections.js', 'search.js'].map(script)));
}

async function show() {
  await load();
  const query = field.value.trim();
  results.hidden = query === '';
  article.hidden = query !== '';
  if (query === '') return results.replaceChildren();
  const hits = findInPages(query);
  const heading = element('h1', hits.length === 0 ? `Not found: ${query}` : `Found: ${query}`);
  const list = element('ol');
  for (const { id, title, page, text, terms } of hits) {
    const link = element('a', title === page ? title : `${page}: ${title}`);
    link.href = new URL(id, root).href;
    // A link to a heading of the page that is open loads no page.
    link.addEventListener('click', () => {
      field.value = '';
      void show();
    });
    const item = element('li');
    item.append(link, excerpt(text, terms));
    list.append(item);
  }
  results.replaceChildren(heading, list);
}

/** The text around the first of the words that begin with a term, with all of them marked. */
function excerpt(text, terms) {
  const escaped = terms.map((term) => term.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'));
  const words = new RegExp(`(?<![\\p{L}\\p{N}])((?:${escaped.join('|')})[\\p{L}\\p{N}]*)`, 'giu');
  const begin = Math.max(0, text.search(words) - excerptLength / 4);
  const shown = text.slice(begin, begin + excerptLength);
  const line = element('p', begin > 0 ? '…' : '');
  for (const [at, piece] of shown.split(words).entries())
    line.append(at % 2 === 1 ? element('mark', piece) : piece);
  line.append(begin + excerptLength < text.length ? '…' : '');
  return line;
}

function element(name, text = '') {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}
