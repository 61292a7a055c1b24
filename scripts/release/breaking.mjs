/**
 * The lines of a released interface that are there no more, and that the changelog does not name. `changelog` is the text of its
 * unreleased section: a break is named below `### Breaking`, as the line between backticks.
 */
export function unnamedBreaks(released, now, changelog) {
  const present = new Set(linesOf(now));
  const [, breaking = ''] = changelog.split(/^### Breaking$/m);
  const [section] = breaking.split(/^### /m);
  return linesOf(released).filter((line) => !present.has(line) && !section.includes(`\`${line}\``));
}

function linesOf(text) {
  return text.split('\n').filter((line) => line !== '');
}
