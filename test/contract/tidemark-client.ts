import { Tidemark, type TidemarkOptions } from '../../client/src/index.js';
import { PASSWORD, type TestApplication } from '../support/index.js';

/** The client of an application, with its credential of level `write`. */
export function clientOf(app: TestApplication, options: Partial<TidemarkOptions> = {}): Tidemark {
  return new Tidemark({
    ...{ url: app.service.url, org: app.organizationid, app: app.appid },
    ...{ username: app.user('write'), password: PASSWORD },
    ...options,
  });
}
