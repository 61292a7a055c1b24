import { keepsEqual, losesDeletesOfUpdates } from './keeps-equal.js';
import { Workplace } from './program.js';
import type { Address, Tool } from './story.js';
import { duckdbCopy } from './tables.js';

jest.setTimeout(900_000);

async function singerAt({ url, username, password }: Address): Promise<Tool> {
  const place = await Workplace.of('singer', {
    TAP_REST_API_MSDK_API_URL: url,
    TAP_REST_API_MSDK_USERNAME: username,
    TAP_REST_API_MSDK_PASSWORD: password,
  });
  return { sync: () => place.sync('Singer'), copy: () => duckdbCopy(place), clear: () => place.clear() };
}

describe('Singer', () => {
  const story = keepsEqual(singerAt, 'from');
  losesDeletesOfUpdates(story);
});
