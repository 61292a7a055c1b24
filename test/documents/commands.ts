/** A fenced block: what stands behind its fence, and its lines. */
const FENCED = /^```(\S*)[^\n]*\n(.*?)^```$/gms;
/** A code span, which may run over the end of a line. */
const SPAN = /`([^`]+)`/g;
/** A span is a command where it begins with one of these and a word behind it. */
const PROGRAM_SPAN = /^(npm|npx|node|admin|curl|git|sh|python3|docker|mongosh|mongod) +\S/;
const PROMPT = '$ ';

/** The commands that a Markdown document tells its readers to type, each once, in order and on one line. */
export function commandsOf(markdown: string): string[] {
  const found: { at: number; command: string }[] = [];
  const prose = markdown.replace(FENCED, (block: string, language: string, text: string, at: number) => {
    found.push(...commandsIn(language, text).map((command) => ({ at, command })));
    return block.replace(/[^\n]/g, ' ');
  });
  for (const { 1: span = '', index: at } of prose.matchAll(SPAN)) {
    const command = span.replace(/\s+/g, ' ');
    if (PROGRAM_SPAN.test(command)) found.push({ at, command });
  }
  return [...new Set(found.sort((a, b) => a.at - b.at).map(({ command }) => command))];
}

/** Of a block in `sh` each line; of others what follows a prompt, and what a program prints to be pasted. */
function commandsIn(language: string, text: string): string[] {
  const lines = text.replace(/\\\n\s*/g, '').split('\n');
  if (language === 'sh') return lines.map(withoutComment).filter((line) => line !== '');
  if (language !== '') return [];
  return lines
    .filter((line) => line.startsWith(PROMPT) || line.startsWith('curl '))
    .map((line) => (line.startsWith(PROMPT) ? line.slice(PROMPT.length) : line).trim());
}

/** A `#` begins a comment at the begin of a word only, and not within quotes. */
function withoutComment(line: string): string {
  const words = /^((?:'[^']*'|"[^"]*"|(?<!\s)#|[^'"#])*)/.exec(line)?.[1] ?? '';
  return (/^\s*#/.test(line) ? '' : words).trim();
}
