/** The changelog's section of what is not released yet, and its place in a release. */

const HEADING = '## [Unreleased]';
const UNRELEASED = /^## \[Unreleased\]\n(.*?)(?=^## \[|(?![\s\S]))/ms;

/** What is not released yet; empty where nothing is. */
export function unreleased(changelog) {
  return UNRELEASED.exec(changelog)?.[1].trim() ?? '';
}

/** The changelog after a release: its entries are below its version and date, and nothing is unreleased. */
export function dated(changelog, version, date) {
  const entries = unreleased(changelog);
  return changelog.replace(UNRELEASED, (section) => {
    const end = section.endsWith('\n\n') ? '\n\n' : '\n';
    return `${HEADING}\n\n## [${version}] - ${date}\n\n${entries}${end}`;
  });
}

/**
 * The lines of a released interface that are there no more, and that the changelog does not name. `changelog` is the text of its
 * unreleased section: a break is named below `### Breaking`, as the line between backticks. What is no longer required breaks
 * no caller, nor does an option that takes further words.
 */
export function unnamedBreaks(released, now, changelog) {
  const present = new Set(linesOf(now));
  const [, breaking = ''] = changelog.split(/^### Breaking$/m);
  const [section] = breaking.split(/^### /m);
  return linesOf(released).filter(
    (line) =>
      ![line, line.replace(/ required$/, ''), withFurtherWords(line)].some((one) => present.has(one)) &&
      !section.includes(`\`${line}\``),
  );
}

/** `--kind a|b` as `--kind a|b|...`. */
function withFurtherWords(line) {
  return line.replace(/^(command .* --[a-z-]+ [a-z-]+(?:\|[a-z-]+)+)( required)?$/, '$1|...$2');
}

function linesOf(text) {
  return text.split('\n').filter((line) => line !== '');
}
