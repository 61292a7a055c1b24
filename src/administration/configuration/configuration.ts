import { MOST_SERVICES } from '../../application/plain.js';
import { serviceNameFault } from '../services.js';
import { KINDS } from '../../record/index.js';
import { usernameFault } from '../usernames.js';
import { filter, level, name, scopes, settings, words } from '../shapes.js';
import { date, flag, listOf, oneOf, required, type Shaped, text } from '../fields.js';

const MOST_APPLICATIONS = 10_000;
const MOST_CREDENTIALS = 100_000;

export const SERVICE = {
  kind: required(oneOf(KINDS)),
  name: required(text(serviceNameFault, { example: 'erp' })),
  description: words('Products of the ERP'),
  enabled: flag(),
  filter: required(filter),
};

export const APPLICATION = {
  organizationid: required(name('acme')),
  appid: required(name('webshop')),
  title: words('Webshop'),
  settings,
  services: listOf(SERVICE, MOST_SERVICES),
};

export const CREDENTIAL = {
  username: required(text(usernameFault, { example: 'harvester' })),
  level: required(level),
  scopes: required(scopes),
  disabled: flag(),
  expiresAt: date(),
};

export type ConfiguredApplication = Shaped<typeof APPLICATION>;
export type ConfiguredService = Shaped<typeof SERVICE>;
export type ConfiguredCredential = Shaped<typeof CREDENTIAL>;

/** The properties of a configuration, as it stands in a file or a body. */
export const CONFIGURATION = {
  applications: listOf(APPLICATION, MOST_APPLICATIONS),
  credentials: listOf(CREDENTIAL, MOST_CREDENTIALS),
};

/**
 * Which applications, services and credentials there are, without anything secret. What of one is left out has its usual
 * value: no title, no settings, no description, on, without an end.
 */
export type Configuration = Shaped<typeof CONFIGURATION>;
