import { options } from './options.js';
import { historyOf } from './schedule/history.js';
import { PROFILE_NAMES, PROFILES } from './schedule/profiles.js';
import { explain, firstLoss } from './schedule/search.js';

/** Milliseconds; far more than any number of schedules takes that somebody waits for. */
const LONG = 3_600_000;

const { replay, seed } = options;

if (replay === undefined) {
  describe('the protocol loses nothing', () => {
    it.each(PROFILE_NAMES)(
      'in schedules of the sort: %s',
      (profile) => {
        const schedules = profile === 'everything' ? options.schedules : Math.ceil(options.schedules / 10);
        const lost = firstLoss({ profile, seed, schedules });
        expect(lost === undefined ? 'nothing' : explain(profile, lost)).toBe('nothing');
      },
      LONG,
    );
  });
} else {
  it('loses nothing in the schedule given', () => {
    const { profile, turns, mutant } = replay;
    const history = historyOf(PROFILES[profile], turns, mutant);
    expect(history).toMatch(/nothing is lost$/);
  });
}
