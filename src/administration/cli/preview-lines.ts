import { cutTo } from './layout.js';
import { filterJson, type Group, type Preview } from '../plain.js';
import type { Filter } from '../../application/index.js';
import { count } from '../../platform/common/index.js';
import { IN_CLONE } from '../../platform/config/pure.js';
import { type Kind, pluralOfKind } from '../../kinds/index.js';
import type { Tenant } from '../../record/index.js';

/** A longer filter is not repeated in a suggested command line. */
const LONGEST_FILTER = 500;

const MOST_CHANGES = 5;
/** The longest value of a sample that is shown whole, in terminal cells. */
const LONGEST_VALUE = 60;

/** A filter that was tried, and the application and kind of its records. */
interface Tried extends Tenant {
  kind: Kind;
  filter: Filter;
}

/** The lines of a preview, for people. `admin` is how commands are called, such as `npx tidemark admin`. */
export function previewLines(preview: Preview, tried: Tried, admin = IN_CLONE.admin): string[] {
  const { matching, others, records, entering, leaving, concerned } = preview;
  return [
    `${first(preview)} of ${number(records)} ${pluralOfKind(tried.kind)} match.`,
    ...firstOf('match', matching),
    ...firstOf('do not match', others),
    ...(entering === undefined || leaving === undefined || concerned === undefined
      ? []
      : [
          movedLine(preview),
          ...firstOf('would enter', entering),
          ...firstOf('would leave', leaving),
          ...firstOf('would show other fields', concerned),
        ]),
    ...sampleLines(preview),
    ...doubtLines(preview, 'the time limit QUERY_MS'),
    ...planLines(preview, tried, admin),
    ...warningLines(preview),
  ];
}

function movedLine({ entering, leaving, concerned, restamps }: Preview): string {
  const moved = [
    `${number(entering?.count ?? null)} would enter`,
    `${number(leaving?.count ?? null)} would leave`,
    ...(concerned?.count === 0 ? [] : [`${number(concerned?.count ?? null)} would show other fields`]),
  ];
  return `${listed(moved)}: ${number(restamps)} will be delivered again.`;
}

function listed(parts: string[]): string {
  const last = parts.at(-1)!;
  return parts.length < 3 ? parts.join(' and ') : `${parts.slice(0, -1).join(', ')}, and ${last}`;
}

/** What changes in the samples of a preview, one line for each record. */
export function sampleLines({ samples }: Preview): string[] {
  return samples.map(({ id, before, after }) => {
    if (after === null) return `For example ${id}: would leave.`;
    if (before === null) return `For example ${id}: would enter, with ${shortly(dataOf(after))}`;
    const changes = differences(before, after, '');
    const more = changes.length - MOST_CHANGES;
    const said = changes.slice(0, MOST_CHANGES).join('; ') || 'no field that is shown would differ';
    return `For example ${id}: ${said}${more > 0 ? `; and ${count(more)} more` : ''}`;
  });
}

function dataOf(item: unknown): unknown {
  return (item as { data?: unknown }).data;
}

/** The fields in which two items differ, each with its values. */
function differences(before: unknown, after: unknown, path: string): string[] {
  if (isObject(before) && isObject(after) && Array.isArray(before) === Array.isArray(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return names.flatMap((name) => {
      const at = path === '' ? name : `${path}.${name}`;
      return differences(before[name], after[name], at);
    });
  }
  const [one, other] = [shortly(before), shortly(after)];
  return one === other && JSON.stringify(before) === JSON.stringify(after)
    ? []
    : [`${path} ${one} -> ${other}`];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** A value as JSON, cut off if it is long; `left out` if it is undefined. */
function shortly(value: unknown): string {
  return value === undefined ? 'left out' : cutTo(LONGEST_VALUE, JSON.stringify(value));
}

/**
 * The short lines about a new filter, planned or just saved, such as `648 of 3,000 match; 12 will be delivered again.`
 */
export function savedLines(preview: Preview, isServed: boolean): string[] {
  const { records, entering, restamps } = preview;
  const moved = isServed ? 'will be delivered again' : 'will be delivered again once it is on';
  const consequence = entering === undefined ? '' : `; ${number(restamps)} ${moved}`;
  return [
    `${first(preview)} of ${number(records)} match${consequence}.`,
    ...doubtLines(preview, 'its time limit'),
    ...warningLines(preview),
  ];
}

/** The number of matching records, for the beginning of a sentence. */
function first({ matching: { count: matching }, error }: Preview): string {
  if (matching === null) return 'An unknown number';
  return error === undefined ? count(matching) : `About ${count(matching)}`;
}

function doubtLines({ error, isCutOff }: Preview, limit: string): string[] {
  return [
    ...(error === undefined
      ? []
      : [
          `These are estimates from a random sample, each accurate to within ${count(error)} records in 95 of 100 cases.`,
        ]),
    ...(isCutOff ? [`The preview is not complete: it reached ${limit}.`] : []),
  ];
}

function planLines({ plan }: Preview, tried: Tried, admin: string): string[] {
  if (plan === null) return [];
  const { indexes, readsEveryRecord, advice } = plan;
  const which = indexes.length === 1 ? 'The index' : 'The indexes';
  const verb = indexes.length === 1 ? 'serves' : 'serve';
  if (!readsEveryRecord) return indexes.length === 0 ? [] : [`${which} ${indexes.join(', ')} ${verb} it.`];
  const making = advice === null ? '' : ` Make one: ${admin} ${indexCommand(tried)}`;
  return [`No index serves it: every record is read.${making}`];
}

/** The command that builds the advised index. */
function indexCommand({ organizationid, appid, kind, filter }: Tried): string {
  const text = JSON.stringify(filterJson(filter));
  const given = text.length > LONGEST_FILTER ? '@FILE' : `'${text.replaceAll("'", `'\\''`)}'`;
  return `service index --org ${organizationid} --app ${appid} --kind ${kind} --filter ${given}`;
}

function warningLines({ warnings }: Preview): string[] {
  return warnings.map(({ path, detail }) => `Warning: ${path}: ${detail}`);
}

function firstOf(what: string, { ids }: Group): string[] {
  return ids.length === 0 ? [] : [`The first that ${what}: ${ids.join(', ')}`];
}

function number(value: number | null): string {
  return value === null ? 'an unknown number' : count(value);
}
