import { commandsOf } from '../../documents/commands.js';

const fenced = (language: string, ...lines: string[]) => ['```' + language, ...lines, '```', ''].join('\n');

describe('the commands of a document', () => {
  it('are the lines of its `sh` blocks, without their comments', () => {
    const block = fenced('sh', '# to begin with', 'npm ci && npm start', '', 'npx jest feed   # "feed" is…');
    expect(commandsOf(block)).toEqual(['npm ci && npm start', 'npx jest feed']);
  });

  it('with a `#` in quotes or within a word, which begins no comment', () => {
    const lines = [`echo '# one' "# two"`, 'curl http://host/docs#feeds'];
    expect(commandsOf(fenced('sh', ...lines))).toEqual(lines);
  });

  it('are what follows a prompt in other blocks, not what is answered', () => {
    const block = fenced('', '$ curl -u … http://host/max', '{"offset":"…"}', 'curl http://host/printed');
    expect(commandsOf(block)).toEqual(['curl -u … http://host/max', 'curl http://host/printed']);
  });

  it('on one line, where a backslash carries them over several', () => {
    expect(commandsOf(fenced('', "$ curl -H 'a: b' \\", "    -d '{}' http://host"))).toEqual([
      "curl -H 'a: b' -d '{}' http://host",
    ]);
  });

  it('are code spans that begin with a program, also where they run over the end of a line', () => {
    const prose =
      'Run `npm run\nbuild`, then `node dist/main.js`. `npm` and `curl` are programs, `admin/` a folder.';
    expect(commandsOf(prose)).toEqual(['npm run build', 'node dist/main.js']);
  });

  it('are none in blocks of other languages', () => {
    expect(
      commandsOf(fenced('js', '$ npm ci', 'db.services.insertOne({});', 'const npm = `npm ci`;')),
    ).toEqual([]);
  });

  it('are told once each, in the order of the document', () => {
    const markdown = ['First `npm ci`.', fenced('sh', 'npm test', 'npm ci'), 'Or `npm run check`.'].join(
      '\n\n',
    );
    expect(commandsOf(markdown)).toEqual(['npm ci', 'npm test', 'npm run check']);
  });
});
