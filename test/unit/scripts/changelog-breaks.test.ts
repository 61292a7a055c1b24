const { unnamedBreaks } = jest.requireActual<{
  unnamedBreaks: (released: string, now: string, changelog: string) => string[];
}>('../../../scripts/release/changelog.mjs');

const RELEASED = 'command status\nsetting PORT integer\n';

describe('what a release takes away is named in the changelog', () => {
  it('additions break nothing', () => {
    expect(unnamedBreaks(RELEASED, `${RELEASED}setting HOST text\n`, '')).toEqual([]);
  });

  it('what is no longer required breaks nothing, and what becomes required does', () => {
    const required = 'command service set --filter JSON required\n';
    const optional = 'command service set --filter JSON\n';
    expect(unnamedBreaks(required, optional, '')).toEqual([]);
    expect(unnamedBreaks(optional, required, '')).toEqual([optional.trim()]);
  });

  it('an option that takes further words breaks nothing, and one that takes fewer does', () => {
    const few = 'command import --kind member|product required\n';
    const more = 'command import --kind member|product|... required\n';
    expect(unnamedBreaks(few, more, '')).toEqual([]);
    expect(unnamedBreaks(more, few, '')).toEqual([more.trim()]);
  });

  it('a line that is gone, or has changed, is a break', () => {
    expect(unnamedBreaks(RELEASED, 'command status\nsetting PORT text\n', '- Better ports.')).toEqual([
      'setting PORT integer',
    ]);
  });

  it('unless it is named below "Breaking", and there alone', () => {
    const named = '- `setting PORT integer`: names are accepted too.\n';
    expect(unnamedBreaks(RELEASED, 'command status\n', `### Breaking\n\n${named}`)).toEqual([]);
    expect(unnamedBreaks(RELEASED, 'command status\n', `### Added\n\n${named}`)).toHaveLength(1);
    expect(
      unnamedBreaks(RELEASED, 'command status\n', `### Breaking\n\n- x\n\n### Added\n\n${named}`),
    ).toHaveLength(1);
  });
});
