import { WRONG_SETTINGS } from '../../../src/platform/config/index.js';
import { isSetting, read } from './files.js';

const unit = read('deploy/systemd/tidemark.service');
/** The values of a key, each time that it is there. */
const valuesOf = (key: string) =>
  [...unit.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value]) => value!);

describe('deploy/systemd/tidemark.service', () => {
  it('sets settings that the service has', () => {
    const names = valuesOf('Environment').flatMap((line) => line.match(/[A-Z_]+(?==)/g) ?? []);
    expect(names).toEqual(['NODE_ENV', 'LOG_FORMAT', 'MONGODB_URI_FILE']);
    expect(names.filter((name) => !isSetting(name))).toEqual([]);
  });

  it('gives the service the credential that a setting names', () => {
    const given = valuesOf('LoadCredential').map((value) => `%d/${value.split(':')[0]}`);
    expect(valuesOf('Environment').filter((line) => line.includes('%d/'))).toEqual([
      `MONGODB_URI_FILE=${given[0]}`,
    ]);
  });

  it('does not start the service again and again with settings that are not valid', () => {
    expect(valuesOf('RestartPreventExitStatus')).toEqual([String(WRONG_SETTINGS)]);
  });

  it('waits for a stop longer than the service takes for it', () => {
    const finish = Number(/const FINISH_MS = ([\d_]+)/.exec(read('src/start.ts'))?.[1]?.replace('_', ''));
    expect(finish).toBeGreaterThan(0);
    expect(Number(valuesOf('TimeoutStopSec')[0]) * 1000).toBeGreaterThan(finish + 2000);
  });
});
