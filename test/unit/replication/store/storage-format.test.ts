import { formatFault, STORAGE_FORMATS } from '../../../../src/replication/store/storage-format.js';

describe('the storage format of a database', () => {
  const known = { oldest: 2, newest: 3 };

  it.each([2, 3])('%i is one that the version knows', (stored) => {
    expect(formatFault(stored, known)).toBeUndefined();
  });

  it('is too new after the upgrade to a later version was finished', () => {
    expect(formatFault(4, known)).toBe(
      'The database has storage format 4, and this version knows formats up to 3: ' +
        'an upgrade to a newer version was finished. Start that version, or a newer one',
    );
  });

  it('is too old where a version was left out, or its upgrade was not finished', () => {
    expect(formatFault(1, known)).toBe(
      'The database has storage format 1, and this version needs 2 or newer. ' +
        'Start the version before this one, and finish the upgrade to it with: admin upgrade finish',
    );
  });

  it('may be the one before the newest: instances of neighbouring versions run side by side', () => {
    expect(STORAGE_FORMATS.newest - STORAGE_FORMATS.oldest).toBeLessThanOrEqual(1);
    expect(formatFault(STORAGE_FORMATS.newest)).toBeUndefined();
  });
});
