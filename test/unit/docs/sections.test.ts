import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..', '..');
const PAPERS = ['contract', 'design'] as const;

/** Such as "contract §1", "contract §2 and §4", "design §3, rule 4", "design §3, Lease", "contract §3, 410". */
const CITATION =
  /\b([Cc]ontract|[Dd]esign)(?:, \w+ and)? §(\d+)((?:(?:,| and) §\d+)*)(?:, (rule \d+|[A-Z][^).:;,'"\n]*|\d{3}|`[^`]+`))?/g;
const ELSEWHERE = /RFC \d+ §[\d.]+/g;
/** A comment that goes on in the next line. */
const NEXT_LINE = /\n\s*(?:\*|\/\/)\s/g;

interface Citation {
  paper: string;
  section: string;
  /** What is meant within the section. */
  name?: string;
}

function citationsIn(text: string): Citation[] {
  return [...text.matchAll(CITATION)].flatMap(([, paper, first, others, name]) => {
    const sections = [first!, ...others!.matchAll(/\d+/g)].map(String);
    return sections.map((section, place) => ({
      ...{ paper: paper!.toLowerCase(), section },
      ...(name !== undefined && place === sections.length - 1 && { name }),
    }));
  });
}

/** The text of each section of a document, by its number. */
function sectionsOf(markdown: string): Map<string, string> {
  const parts = markdown.split(/^## §(\d+) /m).slice(1);
  return new Map(parts.flatMap((part, at) => (at % 2 === 0 ? [[part, parts[at + 1]!]] : [])));
}

/** Whether a section is about a name: in a heading, in bold, or, where it is a status or code, anywhere. */
function isAbout(section: string, name: string): boolean {
  if (/^[\d`]/.test(name)) return section.includes(name);
  const terms = [...section.matchAll(/^#+ (.+)$|\*\*(.+?)\*\*/gm)].map(
    ([, heading, bold]) => heading ?? bold!,
  );
  return terms.some((term) => term.replace(/\.$/, '').toLowerCase() === name.toLowerCase());
}

const papers = new Map<string, Map<string, string>>(
  PAPERS.map((paper) => [paper, sectionsOf(readFileSync(join(ROOT, 'docs', `${paper}.md`), 'utf8'))]),
);

function isThere({ paper, section, name }: Citation): boolean {
  const text = papers.get(paper)?.get(section);
  return text !== undefined && (name === undefined || isAbout(text, name));
}

function sourcesIn(folder: string): { path: string; text: string }[] {
  return readdirSync(join(ROOT, folder), { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((path) => path.endsWith('.ts'))
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8').replace(NEXT_LINE, ' ') }));
}
const own = sourcesIn('src');
const all = [...own, ...sourcesIn('test')];

describe('every section that a docstring cites is in docs/contract.md or docs/design.md', () => {
  it('in src and test', () => {
    const missing = all.flatMap(({ path, text }) =>
      citationsIn(text)
        .filter((citation) => !isThere(citation))
        .map(({ paper, section, name = '' }) => `${path}: ${paper} ${section} ${name}`.trim()),
    );
    expect(missing).toEqual([]);
  });

  it('a section sign says of which document it is', () => {
    const bare = own.filter(({ text }) => text.replace(CITATION, '').replace(ELSEWHERE, '').includes('§'));
    expect(bare.map(({ path }) => path)).toEqual([]);
  });

  it('there are citations at all, with names too', () => {
    const found = own.flatMap(({ text }) => citationsIn(text));
    expect(found.length).toBeGreaterThan(50);
    expect(found.filter(({ name }) => name !== undefined).length).toBeGreaterThan(5);
  });
});

describe('what a citation means', () => {
  const [first, second] = ['§2', '§4'];

  it.each([
    [`contract ${first} and ${second}`, ['2', '4']],
    [`contract ${first}, ${second}`, ['2', '4']],
    [`(contract, head and ${second})`, ['4']],
    [`Contract ${second}: a record`, ['4']],
  ])('%s', (text, sections) => {
    expect(citationsIn(text)).toEqual(sections.map((section) => ({ paper: 'contract', section })));
  });

  it.each([
    ['rule 4', 'rule 4)'],
    ['Lease', 'Lease). Every call'],
    ['Filters take effect in one place', 'Filters take effect in one place): one'],
    ['410', '410). The'],
    ['`tidemark_ignored_records`', '`tidemark_ignored_records`): strangers'],
    [undefined, 'as an expression'],
  ])('the name %s', (name, text) => {
    expect(citationsIn(`(design §${3}, ${text}`)).toEqual([
      { paper: 'design', section: '3', ...(name && { name }) },
    ]);
  });

  it.each([
    { paper: 'contract', section: '99' },
    { paper: 'design', section: '99' },
    { paper: 'design', section: '3', name: 'rule 99' },
    { paper: 'design', section: '3', name: 'Unknown' },
    { paper: 'contract', section: '3', name: '499' },
  ])('one that leads nowhere is found: $paper $section $name', (citation) => {
    expect(isThere(citation)).toBe(false);
  });
});
