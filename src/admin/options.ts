/** Options that several commands have. */

/** The options that name an application. */
export const APPLICATION = {
  org: { value: 'ORG', required: true, description: 'organization identifier' },
  app: { value: 'APP', required: true, description: 'application identifier' },
} as const;

export const KIND = {
  kind: { value: 'member|product', required: true, description: 'kind of the records' },
} as const;

/** The options that name a service. */
export const SERVICE = {
  ...APPLICATION,
  ...KIND,
  name: { value: 'NAME', required: true, description: 'name of the service, as in the paths' },
} as const;

/** The option that names a credential. */
export const USERNAME = {
  username: { value: 'NAME', required: true, description: 'its user name' },
} as const;

/** The option that selects credentials that have been unused for a number of days. */
export const UNUSED_FOR = {
  'unused-for': { value: 'DAYS', description: 'only those unused for this many days, such as 90' },
} as const;

/** The options that name a record. */
export const RECORD = {
  ...APPLICATION,
  ...KIND,
  id: { value: 'ID', required: true, description: 'id of the record, as in the feeds' },
} as const;

/** The options that narrow a configuration to one application. */
export const NARROWED = {
  org: { value: 'ORG', description: 'only an application of this organization; give --app as well' },
  app: { value: 'APP', description: 'only this application, and the credentials that open nothing else' },
} as const;

/** The options of commands that read a configuration file. */
export const COMPARED = {
  ...NARROWED,
  prune: { description: 'remove what is stored and not in the file' },
} as const;
