import { isSupported, newestFirst, opensData, versionIn } from '../../../src/embedded/mongod.js';

describe('versions of mongod', () => {
  it('are read from what --version prints', () => {
    expect(versionIn('db version v6.0.5\nBuild Info: {\n    "version": "6.0.5",')).toBe('6.0.5');
    expect(versionIn('db version v7.0.40-rc0')).toBe('7.0.40');
    expect(versionIn('ls (GNU coreutils) 9.1')).toBeUndefined();
  });

  it('serve from 5.0 on', () => {
    expect(['4.4.29', '5.0.0', '6.0.5', '10.0.0'].filter(isSupported)).toEqual(['5.0.0', '6.0.5', '10.0.0']);
  });

  it('sort the newest first, as numbers', () => {
    expect(['6.0.5', '10.0.1', '7.0.9', '7.0.40'].sort(newestFirst)).toEqual([
      '10.0.1',
      '7.0.40',
      '7.0.9',
      '6.0.5',
    ]);
  });

  it.each([
    ['6.0.5', '6.0', true],
    ['7.0.40', '6.0', true],
    ['8.0.1', '6.0', false],
    ['6.0.5', '7.0', false],
    ['8.2.6', '8.0', true],
    ['8.0.1', '8.2', false],
    ['8.2.6', '7.0', false],
    ['7.0.40', '6.3', true],
  ])('mongod %s opens data of %s: %s', (version, line, opens) => {
    expect(opensData(version, line)).toBe(opens);
  });
});
