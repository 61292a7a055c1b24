import { isMap, LineCounter, parseDocument, stringify, visit } from 'yaml';
import { atOnce, FatalError, isKept } from '../../platform/common/index.js';
import { namesIn, Problem, shaped } from '../../platform/http/plain.js';
import { Refused } from '../changes.js';
import { type Configuration, CONFIGURATION } from '../shapes.js';
import { assertSingle, thingsOf } from './difference.js';
import { configurationJson } from './stored-configuration.js';

/** Maximum number of characters in a file; 100,000 credentials take about 15 MB. */
const LONGEST = 32 * 1024 * 1024;
const WIDTH = 120;
const HEAD = [
  '# The configuration of Tidemark: kinds, applications with their services, and credentials without their passwords.',
  '# "config plan FILE" shows what it would change, "config apply FILE" applies it.',
].join('\n');

/** Returns the text of a configuration file. Comments in it list what could not be part of the configuration. */
export function configurationFile(configuration: Configuration, leftOut: string[]): string {
  const yaml = stringify(configurationJson(configuration), {
    lineWidth: WIDTH,
    aliasDuplicateObjects: false,
  });
  const comments = leftOut.map((one) => `# Not part of it: ${one.replaceAll(/\s+/g, ' ')}`);
  return [HEAD, ...comments, yaml.trimEnd()].join('\n');
}

/** A configuration file after parsing. */
interface ConfigurationFile {
  configuration: Configuration;
  /**
   * The line of the value at a pointer (RFC 6901), counted from 1. If there is no such value, the line of the innermost
   * value that would contain it.
   */
  lineOf: (pointer: string) => number | undefined;
}

/**
 * Reads YAML, and so also JSON, which is a subset. Throws a FatalError if the file is not valid. The error names the
 * line of the first fault, unless the fault concerns the file as a whole.
 */
export function readConfigurationFile(text: string): ConfigurationFile {
  if (text.length > LONGEST) throw new FatalError(`The file has more than ${LONGEST} characters.`);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, schema: 'core', prettyErrors: false });
  const [error] = document.errors;
  if (error !== undefined) throw atLine(lines.linePos(error.pos[0]).line, `is not YAML: ${error.message}`);
  // An export as JSON names in it what is not part of the configuration.
  if (isMap(document.contents)) document.delete('leftOut');
  const lineOf = (pointer: string) => {
    const path = namesIn(pointer);
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
        `contains the number ${source}, which would be stored as a different number: write a number such as 42, or a string.`,
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

/** Adds the line to an error that `work` throws about a place in the file. */
function withLines<T>(lineOf: ConfigurationFile['lineOf'], work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw onLine(lineOf, error);
  }
}

/** Adds the line to an error about a place in the file. Returns other errors unchanged. */
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
  throw new FatalError('The file is not an object such as {applications: [...], credentials: [...]}.');
}

/** Limits aliases: a file written by a person has few of them, and nested aliases can expand to any size. */
function aliased(document: ReturnType<typeof parseDocument>): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 }) as unknown;
  } catch (error) {
    throw new FatalError(`The file cannot be read: ${(error as Error).message}.`);
  }
}
