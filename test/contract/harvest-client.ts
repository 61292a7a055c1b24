import { type HarvestSource, sourceOf } from '../../client/src/harvest/index.js';
import { Tidemark } from '../../client/src/index.js';
import type { CopyPlace } from '../support/copies/index.js';
import { PASSWORD, type TestApplication } from '../support/index.js';

export const BIKES = 'bikes';

export interface CountedSource {
  source: HarvestSource;
  /** Paths that were asked for, with their query. */
  asked: string[];
}

/** The products of the service `bikes` of an application, as its consumer reads them. */
export function bikesOf(app: TestApplication): CountedSource {
  const asked: string[] = [];
  const feed = { org: app.organizationid, app: app.appid, kind: 'product' as const, service: BIKES };
  const tidemark = new Tidemark({
    ...{ ...feed, url: app.service.url, username: app.user('read'), password: PASSWORD },
    retries: { firstMs: 20, times: 12 },
    fetch: (input, init) => {
      asked.push(new URL(input instanceof Request ? input.url : input).pathname);
      return fetch(input, init);
    },
  });
  return { source: sourceOf(tidemark, feed), asked };
}

export const bike = (id: string, n = 0) => ({ id, data: { category: BIKES, n }, channels: ['web'] });
export const tent = (id: string) => ({ id, data: { category: 'tents', n: 0 } });

/** The stamps of what matches, by id. */
export async function bikesIn(app: TestApplication): Promise<[string, string][]> {
  const which = { ...app.tenant, 'data.category': BIKES };
  const records = await app.service.db.collection('products').find(which).toArray();
  return records
    .map(({ id, lastupdated }): [string, string] => [id as string, (lastupdated as Date).toISOString()])
    .sort(byText);
}

/** The stamps in a copy, by id. */
export async function stampsIn(place: CopyPlace): Promise<[string, string][]> {
  const records = [...(await place.records()).values()];
  return records.map(({ id, lastupdated }): [string, string] => [id, lastupdated]).sort(byText);
}

function byText([one]: [string, string], [other]: [string, string]): number {
  return one < other ? -1 : 1;
}
