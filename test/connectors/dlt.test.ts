import { keepsEqual, losesDeletesOfUpdates } from './keeps-equal.js';
import { Workplace } from './program.js';
import type { Address, Tool } from './story.js';
import { duckdbCopy } from './tables.js';

jest.setTimeout(900_000);

async function dltAt({ feed, username, password }: Address): Promise<Tool> {
  const login = { TIDEMARK_USER: username, TIDEMARK_PASSWORD: password };
  const place = await Workplace.of('dlt', { TIDEMARK_FEED: feed, ...login });
  return { sync: () => place.sync('dlt'), copy: () => duckdbCopy(place), clear: () => place.clear() };
}

describe('dlt', () => {
  const story = keepsEqual(dltAt, 'from');
  losesDeletesOfUpdates(story);
});
