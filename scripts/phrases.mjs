/**
 * `npm run -s phrases`: counts the phrases of a private dialect in the comments of `src/` and in the pages, per 1,000 words.
 * `-- --list` prints each place. It measures; it does not fail.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { list: { type: 'boolean' } } });

/** One phrase a line, as a regular expression; a blank stands for any white space. */
const PHRASES = String.raw`
  whoever|whatever|whichever
  (no|some|any)body
  so many|as many as|of which
  (nothing|none|at none|where) (where|nobody|nothing)
  (is|are|was|were|be|been|being|not) told|told (of|at|that|by|again)
  (tell|tells|telling) (of|how|what|when|whether|which|from|apart|alike|it|them|that)
  what (is|was|comes|goes|follows|lies|stands) (behind|ahead|on|beside|then|there)
  what (it|they|that|this|he|one) (is|are|was|were|has|have|had|does|do|did|holds?|lacks?|knows?|knew) (not|of|behind|about)
  (left|leaves?) (behind|alone|it)
  (goes|go|went|gone|going) (on|by what)
  (stands|stood|standing)
  stand (in|beside|behind|before)
  (looks?|looked|looking) after
  (is|are|was|were) no (?!longer|more|such)\w+
  (is|are|was|were) (in|at) work
  (breaks?|broke|broken|breaking) off
  (let|lets|letting) (in|go)
  (gives?|gave|given|giving) (it |them |its term |their term )?(away|up|back)
  beg[iau]n(s|ning)? anew
  where need be|as a rule|all the same|in silence|as it were|by itself alone
  has as long as|behind the items|behind it|far behind
  strangers?|homeless|upheavals?|aftercare|stumbl\w+
  hearings?|openings?|aims?|aimed|desks?|deeds?|purses?|stretch(es)?
  carried|care|cares|cared
`
  .trim()
  .split('\n')
  .map((line) => line.trim().replaceAll(' ', String.raw`\s+`));
const DIALECT = new RegExp(String.raw`\b(?:${PHRASES.join('|')})\b`, 'gi');

const WORD = /[a-z][a-z'-]*/gi;
const COMMENT = /^[ \t]*(?:\/\*[\s\S]*?\*\/|\/\/.*)/gm;
const COMMENT_MARK = /^[ \t]*(?:\/\*\*?|\*\/|\*|\/\/)|\*\/$/gm;
/** Fenced blocks, code spans, and the targets of links. */
const NOT_PROSE = /^```[\s\S]*?^```$|`[^`]*`|\]\([^)]*\)/gm;

/** Spaces in place of characters, so that what remains keeps its line. */
const blank = (text) => text.replace(/[^\n]/g, ' ');

function commentsOf(source) {
  let [kept, at] = ['', 0];
  for (const { 0: comment, index } of source.matchAll(COMMENT)) {
    kept += blank(source.slice(at, index)) + comment.replace(COMMENT_MARK, blank).replace(NOT_PROSE, blank);
    at = index + comment.length;
  }
  return kept;
}

const proseOf = (page) => page.replace(NOT_PROSE, blank);

function filesOf(...patterns) {
  const listed = ['ls-files', '--cached', '--others', '--exclude-standard', '--', ...patterns];
  return execFileSync('git', listed, { encoding: 'utf8' }).trim().split('\n');
}

function count(name, files, textOf) {
  const found = [];
  let words = 0;
  for (const file of files) {
    const text = textOf(readFileSync(file, 'utf8'));
    words += text.match(WORD)?.length ?? 0;
    for (const { 0: phrase, index } of text.matchAll(DIALECT))
      found.push(`${file}:${text.slice(0, index).split('\n').length}: ${phrase.replace(/\s+/g, ' ')}`);
  }
  if (values.list) console.log(found.join('\n'));
  const rate = ((1000 * found.length) / words).toFixed(1);
  console.log(`${name}: ${found.length} phrases in ${words} words, ${rate} per 1,000`);
}

count('comments of src/', filesOf('src/**/*.ts'), commentsOf);
count('pages', filesOf('*.md', ':!CHANGELOG.md', ':!LICENSE'), proseOf);
