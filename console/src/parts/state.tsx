/** How good a state is: said by its word, and by a colour beside it. */
const GOOD: Record<string, 'good' | 'fair' | 'bad'> = {
  ...{ current: 'good', valid: 'good', alive: 'good', on: 'good', matches: 'good' },
  ...{ ready: 'good', preparing: 'fair', 'not valid': 'bad' },
  ...{ behind: 'fair', stalled: 'bad', looping: 'bad', 'never finished': 'bad', 'must start over': 'bad' },
  ...{ expired: 'fair', disabled: 'fair', off: 'fair', broken: 'bad' },
  ...{ gone: 'bad', 'not yet known': 'fair', unknown: 'fair', 'does not match': 'fair' },
};

export function State({ word }: { word: string }) {
  return <span className={`state ${GOOD[word] ?? 'fair'}`}>{word}</span>;
}
