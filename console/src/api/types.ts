/** Shapes of the administration API's answers, as far as the console reads them. Dates are ISO texts. */

export const LEVELS = ['read', 'write', 'admin'] as const;

export interface Tenant {
  organizationid: string;
  appid: string;
}

export interface SignedIn {
  username: string;
  scopes: Tenant[];
  coversAll: boolean;
  /** The kinds of records that the service has. */
  kinds: string[];
  /** Those of the kinds that are fixed to one application. */
  fixedKinds: (Tenant & { kind: string })[];
  /** Of the service. */
  version: string;
}

export interface Kind extends Partial<Tenant> {
  name: string;
  collection: string;
  plural: string;
  /** The fields that hold the id and the stamp. */
  id: string;
  lastupdated: string;
  channels: boolean;
  data: boolean;
  isBuiltIn: boolean;
  state: 'ready' | 'preparing' | 'not valid';
  /** The share of the first pass that is done, if it is known. */
  share: number | null;
  /** Why its document cannot be used. */
  fault?: string;
}

export interface Application extends Tenant {
  title?: string;
  settings?: { replicatepasswordhash?: boolean };
}

export interface Service extends Tenant {
  kind: string;
  name: string;
  filter: unknown;
  description?: string;
  enabled: boolean;
  /** As stored: other programs write services too. */
  fields?: unknown;
  hash?: unknown;
  allowHiddenFilter?: unknown;
  schemaExamples?: unknown;
}

/** A field that appeared or vanished, or whose types are others now. */
export interface SchemaChange {
  version: number;
  at: string;
  path: string;
  change: 'appeared' | 'vanished' | 'type';
  from?: string[];
  to?: string[];
}

/** A JSON Schema, as far as the console reads it. */
export interface ServiceSchema {
  'x-tidemark-version': number;
  'x-tidemark-records': { count: number; sample: boolean };
  /** Newest first. */
  'x-tidemark-changes': SchemaChange[];
}

export interface ListedServices {
  result: Service[];
  /** How many more there are, where those exceed the limits of their application. */
  leftOut?: number;
}

export interface Group {
  /** Null where there was no time to find out. */
  count: number | null;
  ids: string[];
  /** The count is an estimate, accurate to within this many records in 95 of 100 cases. */
  error?: number;
}

/** How the records that match a filter are found. */
export interface FilterPlan {
  indexes: string[];
  readsEveryRecord: boolean;
  /** The index that would serve it. */
  advice: Record<string, 1> | null;
}

export interface Preview {
  records: number | null;
  matching: Group;
  others: Group;
  entering?: Group;
  leaving?: Group;
  /** Records that still match and would show other fields. */
  concerned?: Group;
  restamps: number | null;
  /** Some counts are estimates, each accurate to within this many records in 95 of 100 cases. */
  error?: number;
  /** The time was over before all of it was found. */
  isCutOff: boolean;
  plan: FilterPlan | null;
  warnings: { path: string; detail: string }[];
  samples: Sample[];
}

/** A record that is delivered again, as its item is before and after; null where there is none. */
export interface Sample {
  id: string;
  before: unknown;
  after: unknown;
}

export interface Credential {
  username: string;
  level: (typeof LEVELS)[number];
  scopes: Tenant[];
  disabled?: boolean;
  expiresAt?: string;
  /** Until when the password before works too. */
  oldexpiresAt?: string;
  lastUsed: string | null;
  lastUsedFrom: string | null;
  state: 'valid' | 'disabled' | 'expired' | 'broken';
  /** In the answer that makes it, and in no other. */
  password?: string;
}

export const STATES = [
  'must start over',
  'looping',
  'never finished',
  'stalled',
  'behind',
  'current',
] as const;

export interface Consumer extends Tenant {
  username: string;
  kind: string;
  service: string;
  state: (typeof STATES)[number];
  lastCall: string;
  from: string | null;
  to: string | null;
  behindSeconds: number | null;
  behindRecords: number | null;
  lastEnded: string | null;
  pages: number;
  items: number;
  errors: number;
  lastError: { at: string; status: number; feed: string } | null;
  schemaChange: SchemaChange | null;
}

export interface Deed extends Partial<Tenant> {
  _id: string;
  at: string;
  who: string;
  via: string;
  from: string;
  action: string;
  target: string;
  changed?: string[];
}

export interface RecordStory extends Tenant {
  kind: string;
  id: string;
  state: 'alive' | 'gone' | 'not yet known' | 'unknown';
  lastupdated: string | null;
  owner: string | null;
  record: unknown;
  services: { name: string; matches?: boolean }[];
}

export interface Restamp {
  at: string;
  reason: string;
  what: 'record' | 'hard delete';
  meaning: string;
}

export interface RecordHistory {
  restamps: Restamp[];
  /** Times in which there were more re-stamps than are noted. */
  gaps: { from: string; until: string; reason: string }[];
  keptDays: number;
}

export interface Figures {
  at: string;
  /** The instance that answers. */
  instance: string;
  requests: number;
  failures: number;
  items: number;
  restamps: number;
  tombstones: number;
  lagSeconds: number | null;
  oplogWindowSeconds: number | null;
  quarantined: number | null;
  passDone: number | null;
}

/** How long work will take; absent where it cannot be told. */
interface Rest {
  secondsLeft?: number;
}

export interface Status {
  database: { name: string; version: string; replicaSet?: string };
  missingIndexes: string[];
  watcher: {
    leader?: string;
    leaseExpires?: string;
    since?: string;
    isPreparing: boolean;
    pass?: Rest & { reason: string; isRepair: boolean; started: string; done: number; total: number };
    lagSeconds?: number;
    /** Of the lag. */
    secondsLeft?: number;
    aside: (Tenant & Rest & { lagSeconds: number; pass?: string; share?: number })[];
    oplogWindowSeconds?: number;
    oplogUsedRatio?: number;
    oplogPredictedWindowSeconds?: number;
  };
  missingRights: { action: string; on: string; without: string; isNeeded: boolean }[];
  totals: Record<string, number | Record<string, number>>;
  audit?: {
    round: number;
    kind: string;
    slices: number;
    lastRoundSeconds: number | null;
    roundSeconds: number | null;
    found: number;
  };
  hardDeletesExpired?: string;
  documents: Record<string, number>;
  pendingServices: {
    services: number;
    first: (Tenant &
      Rest & { kind: string; name: string; since?: string; share?: number; failures: number })[];
  };
  emailDuplicates: {
    members: number;
    first: (Tenant & { emailkey: string; members: string[]; others?: number })[];
  };
  faultyFilters: { services: number; first: { service: string; detail: string; isServed: boolean }[] };
  quarantine: { events: number; first: { what: string; _id: string; since: string; reason: string }[] };
}
