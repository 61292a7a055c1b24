import { LineCounter, parseDocument, stringify, visit } from 'yaml';
import { atOnce, FatalError, isKept } from '../../common/index.js';
import { Problem } from '../../http/plain.js';
import { shaped } from '../fields.js';
import { Refused } from '../changes.js';
import { CONFIGURATION, type Configuration } from '../shapes.js';
import { configurationJson } from './stored-configuration.js';
import { assertSingle, thingsOf } from './difference.js';

/** Of the file (bytes); 100,000 credentials take about 15 MB. */
const LONGEST = 32 * 1024 * 1024;
const WIDTH = 120;
const HEAD = [
  '# The configuration of Tidemark: applications with their services, and credentials without their passwords.',
  '# "config plan FILE" tells what it would change, "config apply FILE" changes it.',
].join('\n');

/** The configuration as a file, with what could not be part of it as comments. */
export function configurationFile(configuration: Configuration, leftOut: string[]): string {
  const yaml = stringify(configurationJson(configuration), {
    lineWidth: WIDTH,
    aliasDuplicateObjects: false,
  });
  const comments = leftOut.map((one) => `# Not part of it: ${one.replaceAll(/\s+/g, ' ')}`);
  return [HEAD, ...comments, yaml.trimEnd()].join('\n');
}

/** A file that was read. */
interface ConfigurationFile {
  configuration: Configuration;
  /** The line of what stands at a pointer (RFC 6901), counted from 1. */
  lineOf: (pointer: string) => number | undefined;
}

/** Reads YAML, or JSON, which is YAML too. Throws a FatalError that names the first line that is not right. */
export function readConfigurationFile(text: string): ConfigurationFile {
  if (text.length > LONGEST) throw new FatalError(`The file has more than ${LONGEST} characters.`);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, schema: 'core', prettyErrors: false });
  const [error] = document.errors;
  if (error !== undefined) throw atLine(lines.linePos(error.pos[0]).line, `is not YAML: ${error.message}`);
  const lineOf = (pointer: string) => {
    const path = pointer.split('/').slice(1);
    for (let length = path.length; length >= 0; length -= 1) {
      const node = document.getIn(path.slice(0, length), true) as
        | { range?: [number, number, number] }
        | undefined;
      if (node?.range) return lines.linePos(node.range[0]).line;
    }
    return undefined;
  };
  visit(document, {
    Scalar: (_key, { value, source = '', range }) => {
      if (typeof value !== 'number' || isKept(source)) return;
      const line = lines.linePos(range?.[0] ?? 0).line;
      throw atLine(
        line,
        `holds the number ${source}, which cannot be kept as it is written: write 42, or a text.`,
      );
    },
  });
  const json = toJson(document);
  const configuration = withLines(lineOf, () => {
    const read = atOnce(shaped(CONFIGURATION, json));
    atOnce(assertSingle(atOnce(thingsOf(read))));
    return read;
  });
  return { configuration, lineOf };
}

/** What `work` throws about a place in the file names its line. */
function withLines<T>(lineOf: ConfigurationFile['lineOf'], work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw onLine(lineOf, error);
  }
}

/** The same error, with the line of the place that it is about. */
export function onLine(lineOf: ConfigurationFile['lineOf'], error: unknown): unknown {
  const problem = error instanceof Refused ? error.problem : error;
  if (!(problem instanceof Problem)) return error;
  const [first] = problem.extras.errors ?? [];
  if (first === undefined || !('pointer' in first)) return error;
  const line = lineOf(first.pointer);
  const said = first.detail.startsWith(first.pointer) ? first.detail : `${first.pointer} ${first.detail}`;
  return line === undefined ? new FatalError(said) : atLine(line, said);
}

function atLine(line: number, said: string): FatalError {
  return new FatalError(`Line ${line}: ${said.replaceAll(/\s+/g, ' ')}`);
}

function toJson(document: ReturnType<typeof parseDocument>): object {
  const json = aliased(document);
  if (typeof json === 'object' && json !== null && !Array.isArray(json)) return json;
  throw new FatalError('The file is not such as {applications: [...], credentials: [...]}.');
}

/** Aliases are few in a file that a person has written; a thousand of a thousand are an attack. */
function aliased(document: ReturnType<typeof parseDocument>): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 }) as unknown;
  } catch (error) {
    throw new FatalError(`The file cannot be read: ${(error as Error).message}.`);
  }
}
