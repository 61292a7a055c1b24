import { invocationOf, IN_CLONE } from '../../../../src/platform/config/pure.js';

const BIN = '/home/ann/node_modules/.bin';
const invocation = (path: string, environment: Record<string, string> = {}, folder = '/home/ann') =>
  invocationOf({ path, folder, environment });

describe('How a program was called', () => {
  it.each(['admin', 'start'])('by the script %s of a clone', (script) => {
    const environment = { npm_command: 'run', npm_lifecycle_event: script };
    expect(invocation('/home/ann/tidemark/dist/cli.js', environment)).toEqual(IN_CLONE);
    expect(IN_CLONE).toEqual({ serve: 'npm start', admin: 'npm run -s admin --', mistake: 1 });
  });

  it('by npx', () => {
    const environment = { npm_command: 'exec', npm_lifecycle_event: 'npx', PATH: BIN };
    expect(invocation(`${BIN}/tidemark`, environment)).toEqual({
      serve: 'npx tidemark',
      admin: 'npx tidemark admin',
      mistake: 2,
    });
    expect(invocation(`${BIN}/tidemark-admin`, environment)).toEqual({
      serve: 'npx tidemark',
      admin: 'npx tidemark-admin',
      mistake: 1,
    });
  });

  it('by its name, where the shell finds it, or by its path', () => {
    expect(invocation(`${BIN}/tidemark`, { PATH: `/bin:${BIN}` })).toMatchObject({
      serve: 'tidemark',
      admin: 'tidemark admin',
    });
    expect(invocation(`${BIN}/tidemark-admin`, { PATH: `/bin:${BIN}` })).toMatchObject({
      serve: 'tidemark',
      admin: 'tidemark-admin',
    });
    expect(invocation(`${BIN}/tidemark-admin`, { PATH: '/bin' })).toMatchObject({
      serve: 'node_modules/.bin/tidemark',
      admin: 'node_modules/.bin/tidemark-admin',
    });
    expect(invocation(`${BIN}/tidemark`, {}, '/srv')).toMatchObject({ admin: `${BIN}/tidemark admin` });
  });

  it('as a file of Node, in an image or a clone', () => {
    expect(invocation('/app/dist/tidemark.js', {}, '/app')).toEqual({
      serve: 'node dist/tidemark.js',
      admin: 'node dist/tidemark.js admin',
      mistake: 2,
    });
    expect(
      invocation('/app/dist/cli.js', { npm_command: 'exec', npm_lifecycle_event: 'npx' }, '/app'),
    ).toEqual({
      serve: 'node dist/tidemark.js',
      admin: 'node dist/cli.js',
      mistake: 1,
    });
    expect(invocation("/it's here/dist/cli.js", {}, '/')).toMatchObject({
      admin: String.raw`node 'it'\''s here/dist/cli.js'`,
    });
  });

  it('by a program that starts the installed file, as on Windows', () => {
    const file = '/home/ann/node_modules/tidemark/dist/tidemark.js';
    expect(invocation(file)).toMatchObject({ admin: 'tidemark admin' });
    expect(invocation(file, { npm_command: 'exec' })).toMatchObject({ admin: 'npx tidemark admin' });
    expect(invocation(file, { npm_lifecycle_event: 'start' })).toMatchObject({ serve: 'tidemark' });
  });
});
