import type { Tenant } from '../record/index.js';

/** A document of `applications` (contract §4). */
export interface Application extends Tenant {
  title?: string;
  settings?: { replicatepasswordhash?: boolean };
}
