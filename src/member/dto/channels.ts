import { MOST_FAULTS } from '../faults/body-faults.js';
import { pointerTo } from '../faults/pointer.js';
import type { InputFault } from '../faults/checked-by.js';
import { LONGEST_TEXT } from './limits.js';

/** What is wrong with a list of channels, as far as anybody is told. */
export function channelsFaults(value: unknown): InputFault[] {
  if (!Array.isArray(value))
    return [{ pointer: '', detail: 'must be a list of texts, such as ["web", "shop"]' }];
  const faults: InputFault[] = [];
  for (const [index, channel] of value.entries()) {
    if (typeof channel === 'string' && channel.length <= LONGEST_TEXT) continue;
    const detail = `must be a text of at most ${LONGEST_TEXT} characters, such as "web"`;
    if (faults.push({ pointer: pointerTo('', index), detail }) === MOST_FAULTS) break;
  }
  return faults;
}
