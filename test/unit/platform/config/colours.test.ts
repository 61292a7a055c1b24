import { hasColours } from '../../../../src/platform/config/index.js';

const TERMINAL = { isTTY: true };
const XTERM = { TERM: 'xterm-256color' };

describe('colours', () => {
  it.each([
    ['on a terminal', TERMINAL, XTERM, true],
    ['not in a file or a pipe', {}, XTERM, false],
    ['not with NO_COLOR', TERMINAL, { ...XTERM, NO_COLOR: '1' }, false],
    ['where NO_COLOR is empty', TERMINAL, { ...XTERM, NO_COLOR: '' }, true],
    ['not on a terminal that has none', TERMINAL, { TERM: 'dumb' }, false],
    ['anywhere with FORCE_COLOR', {}, { FORCE_COLOR: '1' }, true],
    [
      'with FORCE_COLOR, whatever NO_COLOR says',
      TERMINAL,
      { ...XTERM, FORCE_COLOR: '1', NO_COLOR: '1' },
      true,
    ],
    ['nowhere with FORCE_COLOR=0', TERMINAL, { ...XTERM, FORCE_COLOR: '0' }, false],
  ])('%s', (_where, stream, environment, expected) => {
    expect(hasColours(stream, environment)).toBe(expected);
  });
});
