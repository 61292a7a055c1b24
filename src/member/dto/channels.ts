import { pointerTo } from '../body/pointer.js';
import type { Fault } from './checked-by.js';
import { LONGEST_TEXT } from './limits.js';

/** What is wrong with a list of channels. */
export function channelsFaults(value: unknown): Fault[] {
  if (!Array.isArray(value))
    return [{ pointer: '', detail: 'must be a list of texts, such as ["web", "shop"]' }];
  return value.flatMap((channel, index) =>
    typeof channel === 'string' && channel.length <= LONGEST_TEXT
      ? []
      : [
          {
            pointer: pointerTo('', index),
            detail: `must be a text of at most ${LONGEST_TEXT} characters, such as "web"`,
          },
        ],
  );
}
