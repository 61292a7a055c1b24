import { readFileSync } from 'node:fs';
import { CONTENT, run } from './program.js';

describe('Dockerfile', () => {
  it('hadolint has nothing against it', () => {
    expect(run('hadolint', ['Dockerfile'])).toEqual(CONTENT);
  });

  it('it has something against one that is wrong', () => {
    const wrong = readFileSync('Dockerfile', 'utf8').replace('["node", "dist/main.js"]', 'node dist/main.js');
    expect(run('hadolint', ['-'], wrong)).toMatchObject({
      status: 1,
      said: expect.stringContaining('DL3025'),
    });
  });
});
