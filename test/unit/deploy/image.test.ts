import { ltsNode } from '../../../scripts/lts-node.mjs';
import { isSetting, read } from './files.js';

const file = read('Dockerfile').replaceAll('\\\n', '');
/** The arguments of an instruction of the last stage, each time that it is there. */
const last = file.slice(file.lastIndexOf('\nFROM '));
const instructions = (name: string) =>
  [...last.matchAll(new RegExp(`^ *${name} +(.+)$`, 'gm'))].map(([, words]) => words!);

describe('Dockerfile', () => {
  it('takes the Node on which the tests run', () => {
    expect(/^ARG NODE_VERSION=(.+)$/m.exec(file)?.[1]).toBe(ltsNode.version);
    const images = [...file.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image!);
    const own = [...file.matchAll(/ AS (\S+)$/gm)].map(([, stage]) => stage!);
    expect(new Set(images.filter((image) => !own.includes(image)))).toEqual(
      new Set(['node:${NODE_VERSION}-bookworm-slim']),
    );
  });

  it('sets and reads settings that the service has, and the name by which Node knows production', () => {
    const set = instructions('ENV').flatMap((words) => words.match(/\w+(?==)/g) ?? []);
    const asked = /\{ (.+?) \} = process\.env/.exec(last)?.[1]?.split(', ') ?? [];
    expect(set).toContain('NODE_ENV');
    expect(asked).toContain('PORT');
    expect([...set, ...asked].filter((name) => !isSetting(name))).toEqual([]);
  });

  it('starts the service without a shell, so that it receives SIGTERM itself, and as a user who is not root', () => {
    const commands = [...last.matchAll(/\b(?:CMD|ENTRYPOINT) (.+)$/gm)].map(([, command]) => command!);
    expect(commands.map((command) => JSON.parse(command) as unknown)).toEqual([
      ['node', '-e', expect.stringContaining('/health/live')],
      ['node', 'dist/main.js'],
    ]);
    expect(instructions('USER')).toEqual(['1000:1000']);
  });
});
