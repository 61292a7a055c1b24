import { filterJson, optionText } from '../plain.js';
import type { ShownFields, StoredFields } from '../../application/plain.js';
import { FatalError, UsageError } from '../../platform/common/index.js';
import { cell } from './table.js';

/** Parses the fields of a service from command options, and formats them for tables. */

const NONE = 'none';

/** The values of the options that choose fields. */
interface FieldOptions {
  fields: string | undefined;
  hash: string | undefined;
  'allow-hidden-filter': boolean;
  'refuse-hidden-filter': boolean;
}

/** New fields of a service: undefined keeps the stored ones, null removes them. */
interface FieldsGiven {
  fields: ShownFields | null | undefined;
  hash: string[] | null | undefined;
  allowHiddenFilter: true | null | undefined;
}

/** Reads the options that choose fields. JSON is only parsed here; it is checked when a service is set or previewed. */
export async function shownFieldsIn({
  fields,
  hash,
  'allow-hidden-filter': isAllowed,
  'refuse-hidden-filter': isRefused,
}: FieldOptions): Promise<FieldsGiven> {
  if (isAllowed && isRefused)
    throw new UsageError('Give either --allow-hidden-filter or --refuse-hidden-filter.');
  return {
    fields: (await givenJson('fields', fields)) as FieldsGiven['fields'],
    hash: isList(hash) ? hash.split(',').map((path) => path.trim()) : await givenPaths(hash),
    allowHiddenFilter: isAllowed ? true : isRefused ? null : undefined,
  };
}

/** Whether paths are written with commas between them, and not as JSON. */
function isList(hash: string | undefined): hash is string {
  return hash !== undefined && hash !== NONE && !/^[[@]/.test(hash);
}

async function givenPaths(hash: string | undefined): Promise<FieldsGiven['hash']> {
  return (await givenJson('hash', hash)) as FieldsGiven['hash'];
}

async function givenJson(option: string, text: string | undefined): Promise<unknown> {
  if (text === undefined) return undefined;
  if (text === NONE) return null;
  const json = await optionText(text, `--${option}`);
  try {
    return JSON.parse(json) as unknown;
  } catch (error) {
    throw new FatalError(`--${option} is not JSON: ${(error as Error).message.split('\n')[0]}.`);
  }
}

/** Whether the schema of a service shows values; undefined keeps what is stored, null removes it. */
export function schemaExamplesIn({
  'schema-examples': areAllowed,
  'no-schema-examples': areRefused,
}: Record<'schema-examples' | 'no-schema-examples', boolean>): true | null | undefined {
  if (areAllowed && areRefused)
    throw new UsageError('Give either --schema-examples or --no-schema-examples.');
  return areAllowed ? true : areRefused ? null : undefined;
}

/** The properties that decide what a service and its schema show, as JSON; properties without a value are omitted. */
export function shownFieldsJson({ fields, hash, allowHiddenFilter, schemaExamples }: StoredFields): object {
  return Object.fromEntries(
    Object.entries({ fields, hash, allowHiddenFilter, schemaExamples })
      .filter(([, value]) => value !== undefined && value !== null)
      .map(([name, value]) => [name, filterJson(value)]),
  );
}

/** Like {@link shownFieldsJson}, as a cell of a table; empty if none is set. */
export function shownFieldsCell(stored: StoredFields): string {
  const shown = shownFieldsJson(stored);
  return Object.keys(shown).length === 0 ? '' : cell(shown);
}
