import { keepsEqual } from './keeps-equal.js';
import { Workplace } from './program.js';
import { held } from './source.js';
import type { Address, Tool } from './story.js';

jest.setTimeout(900_000);

const READ = `
import json, sqlite3
print(json.dumps([json.loads(item) for (item,) in sqlite3.connect("copy.sqlite").execute("select item from records")]))
`;

async function pythonAt({ feed, username, password }: Address): Promise<Tool> {
  const login = { TIDEMARK_USER: username, TIDEMARK_PASSWORD: password };
  const place = await Workplace.of('python', { TIDEMARK_FEED: feed, ...login });
  return {
    sync: () => place.sync('Python without packages'),
    copy: async () => {
      const { stdout } = await place.run('python3', '-c', READ).end();
      const items = JSON.parse(stdout) as {
        id: string;
        lastupdated: string;
        data: Record<string, unknown>;
      }[];
      return new Map(items.map(({ id, lastupdated, data }) => [id, held(new Date(lastupdated), data)]));
    },
    clear: () => place.clear(),
  };
}

describe('Python without packages', () => {
  const story = keepsEqual(pythonAt, 'cursor');

  it.each([502, 504])(
    'asks again where a proxy answers %d for an instance that is being replaced',
    async (status) => {
      const { front, tool } = story();
      front.begin((_url, turn) => (turn === 1 ? { status } : undefined));
      expect(await tool.sync().end()).toMatchObject({ how: 0 });
      expect(front.asked.length).toBeGreaterThan(1);
    },
  );

  it('begins again on 410, and keeps nothing that it is not told of', async () => {
    const { source, front } = story();
    await source.change();
    await source.forgetHardDeletes();
    await story().sync();
    expect(front.asked.map(({ searchParams }) => searchParams.has('cursor')).slice(0, 2)).toEqual([
      true,
      false,
    ]);
    expect(await story().differences()).toEqual(new Map());
  });
});
