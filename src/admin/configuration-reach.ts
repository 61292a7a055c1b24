import { EVERYTHING, type Reach, withinApplication } from '../administration/index.js';
import { FatalError } from '../common/index.js';
import { tenantOf } from './options.js';

/** The options that narrow a configuration to one application. */
export const NARROWED = {
  org: { value: 'ORG', description: 'only an application of this organization; give --app as well' },
  app: { value: 'APP', description: 'only this application, and the credentials that open nothing else' },
} as const;

/** Everything, or what the options name. Throws where they name half of it. */
export function reachOf({ org, app }: { org: string | undefined; app: string | undefined }): Reach {
  if (org === undefined && app === undefined) return EVERYTHING;
  if (org === undefined || app === undefined)
    throw new FatalError('--org and --app name an application together: give both, or neither.');
  return withinApplication(EVERYTHING, tenantOf({ org, app }));
}
