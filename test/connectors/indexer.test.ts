import { keepsEqual } from './keeps-equal.js';
import { OpenSearch } from './opensearch.js';
import { Workplace } from './program.js';
import { held } from './source.js';
import type { Address, Tool } from './story.js';

jest.setTimeout(900_000);

interface Found {
  id: string;
  lastupdated: string;
  data: Record<string, unknown>;
}

async function indexerAt({ feed, username, password }: Address): Promise<Tool> {
  const server = await OpenSearch.start();
  const login = { TIDEMARK_USER: username, TIDEMARK_PASSWORD: password };
  const place = await Workplace.of('', {
    TIDEMARK_FEED: feed,
    ...login,
    INDEX_SERVER: server.url,
    INDEX: 'bikes',
  });
  return {
    sync: () => place.sync('A search index'),
    copy: async () => {
      const found = await server.documents<Found>('bikes');
      return new Map(found.map(({ id, lastupdated, data }) => [id, held(new Date(lastupdated), data)]));
    },
    clear: () => Promise.all([server.stop(), place.clear()]).then(() => undefined),
  };
}

describe('the indexer', () => {
  const story = keepsEqual(indexerAt, 'cursor');

  it('sends a request again whose connection was cut', async () => {
    await story().source.change();
    await story().cutSync();
    expect(await story().differences()).toEqual(new Map());
  });
});
