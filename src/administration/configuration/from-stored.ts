import { DEFAULT_SERVICE, isEnabled, type StoredService } from '../../application/plain.js';
import type { Scope } from '../../auth/index.js';
import { type Steps, textOf } from '../../platform/common/index.js';
import { type FieldError, type Fields, type Shaped, shapeInSteps } from '../../platform/http/pure.js';
import { isKind, kindNames } from '../../kinds/index.js';
import type { StoredApplication } from '../applications.js';
import type { ListedCredential } from '../credentials.js';
import { filterJson } from '../filter-text.js';
import { withoutDefaults } from '../kinds.js';
import type { StoredKind } from '../listed-kinds.js';
import { serviceFault } from '../service-rules.js';
import {
  APPLICATION,
  type Configuration,
  type ConfiguredApplication,
  type ConfiguredCredential,
  type ConfiguredKind,
  type ConfiguredService,
  CREDENTIAL,
  SERVICE,
} from '../shapes.js';

/** The documents of a stored configuration. */
interface StoredDocuments {
  /** Undefined for a caller who may not change kinds. */
  kinds?: StoredKind[] | undefined;
  applications: StoredApplication[];
  services: StoredService[];
  credentials: ListedCredential[];
}

/** Builds a configuration from stored documents. `leftOut` describes what cannot be part of it. */
export function* configurationFrom({
  kinds,
  applications,
  services,
  credentials,
}: StoredDocuments): Steps<{ configuration: Configuration; leftOut: string[] }> {
  const leftOut: string[] = [];
  function* read<F extends Fields>(
    fields: F,
    name: string,
    stored: object,
    faultOf?: (value: Shaped<F>) => FieldError | undefined,
  ): Steps<Shaped<F>[]> {
    const found = yield* shapeInSteps(fields, withoutNothing(stored), faultOf);
    if ('value' in found) return [found.value];
    const [{ pointer, detail } = { pointer: '', detail: '' }] = found.faults;
    leftOut.push(`${name}: ${pointer.slice(1).replaceAll('/', '.')} ${detail}`);
    return [];
  }
  const invalid = (kinds ?? []).filter(({ fault }) => fault !== undefined);
  for (const { kind, fault } of invalid) leftOut.push(`kind "${textOf(kind.name)}": ${fault}`);
  const byApplication = byPlace(services);
  const known: ConfiguredApplication[] = [];
  for (const application of applications) {
    const place = tenantLabel(application);
    const own: ConfiguredService[] = [];
    for (const service of byApplication.get(place) ?? []) {
      const said = `${serviceLabel(service)} of ${place}`;
      own.push(...(yield* read(SERVICE, said, serviceJson(service), storedServiceFault)));
      yield;
    }
    byApplication.delete(place);
    const { organizationid, appid, title, settings } = application;
    const stored = { organizationid, appid, title, settings };
    for (const one of yield* read(APPLICATION, `application ${place}`, stored))
      known.push({ ...one, services: own });
    yield;
  }
  for (const [place, orphans] of byApplication)
    for (const service of orphans)
      leftOut.push(`${serviceLabel(service)} of ${place}: there is no such application.`);
  const opened: ConfiguredCredential[] = [];
  for (const one of credentials) {
    opened.push(...(yield* read(CREDENTIAL, `credential "${textOf(one.username)}"`, credentialJson(one))));
    yield;
  }
  const valid = kinds?.filter((one) => !invalid.includes(one));
  const configured = valid?.map(({ kind }) => withoutDefaults(kind) as ConfiguredKind);
  return { configuration: { kinds: configured, applications: known, credentials: opened }, leftOut };
}

function storedServiceFault(service: ConfiguredService): FieldError | undefined {
  if (!isKind(service.kind)) return { pointer: '/kind', detail: `is not one of ${kindNames().join(', ')}.` };
  return serviceFault(service);
}

function byPlace(services: StoredService[]): Map<string, StoredService[]> {
  const found = new Map<string, StoredService[]>();
  for (const service of services) {
    const place = tenantLabel(service);
    const others = found.get(place);
    if (others === undefined) found.set(place, [service]);
    else others.push(service);
  }
  return found;
}

function serviceJson(service: StoredService): object {
  const { kind, name, description, filter, fields, hash, allowHiddenFilter, schemaExamples } = service;
  return {
    ...{ kind, name, description },
    enabled: isEnabled(service) ? undefined : false,
    filter: name === DEFAULT_SERVICE ? undefined : filterJson(filter),
    fields: filterJson(fields),
    hash: filterJson(hash),
    allowHiddenFilter: allowHiddenFilter === false ? undefined : allowHiddenFilter,
    schemaExamples: schemaExamples === false ? undefined : schemaExamples,
  };
}

/** Any stored value of `disabled` except false and null disables a credential. */
function credentialJson({ username, level, scopes, disabled, expiresAt }: ListedCredential): object {
  const isDisabled = disabled !== undefined && disabled !== null && disabled !== false;
  return {
    ...{ username, level, disabled: isDisabled ? true : undefined },
    scopes: Array.isArray(scopes) ? (scopes as unknown[]).map(scopeJson) : scopes,
    expiresAt: expiresAt instanceof Date ? dateText(expiresAt) : expiresAt,
  };
}

function scopeJson(scope: unknown): object {
  const { organizationid, appid } = Object(scope) as Partial<Scope>;
  return { organizationid, appid };
}

function dateText(date: Date): string {
  return Number.isNaN(date.getTime()) ? 'no date' : date.toISOString();
}

/** Removes properties without a value. In stored documents, null also means no value. */
function withoutNothing(stored: object): object {
  return Object.fromEntries(
    Object.entries(stored).filter(([, value]) => value !== undefined && value !== null),
  );
}

function tenantLabel({ organizationid, appid }: { organizationid?: unknown; appid?: unknown }): string {
  return `${textOf(organizationid)}/${textOf(appid)}`;
}

function serviceLabel({ kind, name }: StoredService): string {
  return `${textOf(kind)} service "${textOf(name)}"`;
}
