import { pointerTo } from '../faults/pointer.js';
import type { InputFault } from '../faults/checked-by.js';
import { isDeletion } from './deletion.js';
import { LONGEST_TEXT, MOST_PROPERTIES, MOST_SECTIONS } from './limits.js';

const EXAMPLE = 'such as {"shop": {"newsletter": true, "size": "M"}}';
const SECTION_EXAMPLE = 'such as {"newsletter": true, "size": "M"}';

/** What is wrong with the `extrafields` of a new member. */
export function extrafieldsFaults(value: unknown): InputFault[] {
  return sectionsFaults(value, () => false);
}

/** What is wrong with the `extrafields` of a patch, in which null and "" delete at any depth. */
export function extrafieldsPatchFaults(value: unknown): InputFault[] {
  return sectionsFaults(value, isDeletion);
}

type Skip = (value: unknown) => boolean;

function sectionsFaults(value: unknown, skip: Skip): InputFault[] {
  if (!isObject(value)) return [{ pointer: '', detail: `must be an object of sections, ${EXAMPLE}` }];
  const sections = Object.entries(value).filter(([, section]) => !skip(section));
  if (sections.length > MOST_SECTIONS) {
    return [{ pointer: '', detail: `must have at most ${MOST_SECTIONS} sections, ${EXAMPLE}` }];
  }
  return sections.flatMap(([name, section]) => sectionFaults(pointerTo('', name), section, skip));
}

function sectionFaults(pointer: string, section: unknown, skip: Skip): InputFault[] {
  if (!isObject(section)) return [{ pointer, detail: `must be an object, ${SECTION_EXAMPLE}` }];
  const properties = Object.entries(section).filter(([, value]) => !skip(value));
  if (properties.length > MOST_PROPERTIES) {
    return [{ pointer, detail: `must have at most ${MOST_PROPERTIES} properties, ${SECTION_EXAMPLE}` }];
  }
  return properties
    .filter(([, value]) => !isTextOrBoolean(value))
    .map(([name]) => ({
      pointer: pointerTo(pointer, name),
      detail: `must be true, false or a text of at most ${LONGEST_TEXT} characters, such as "M"`,
    }));
}

function isTextOrBoolean(value: unknown): boolean {
  return typeof value === 'boolean' || (typeof value === 'string' && value.length <= LONGEST_TEXT);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
