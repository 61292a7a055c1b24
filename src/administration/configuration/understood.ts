import { isEnabled, type StoredService } from '../../application/plain.js';
import type { Scope } from '../../auth/index.js';
import type { Steps } from '../../common/index.js';
import type { StoredApplication } from '../applications.js';
import type { ListedCredential } from '../credentials.js';
import { filterJson } from '../filter-text.js';
import { type Fields, type Shaped, shapeInSteps } from '../fields.js';
import {
  APPLICATION,
  type Configuration,
  type ConfiguredApplication,
  type ConfiguredCredential,
  type ConfiguredService,
  CREDENTIAL,
  SERVICE,
} from '../shapes.js';

/** Makes a configuration of what is stored; what cannot be part of one is told in words. */
export function* understood(
  applications: StoredApplication[],
  services: StoredService[],
  credentials: ListedCredential[],
): Steps<{ configuration: Configuration; leftOut: string[] }> {
  const leftOut: string[] = [];
  function* read<F extends Fields>(fields: F, name: string, stored: object): Steps<Shaped<F>[]> {
    const found = yield* shapeInSteps(fields, withoutNothing(stored));
    if ('value' in found) return [found.value];
    const [{ pointer, detail } = { pointer: '', detail: '' }] = found.faults;
    leftOut.push(`${name}: ${pointer.slice(1).replaceAll('/', '.')} ${detail}`);
    return [];
  }
  const byApplication = byPlace(services);
  const known: ConfiguredApplication[] = [];
  for (const application of applications) {
    const place = placeOf(application);
    const own: ConfiguredService[] = [];
    for (const service of byApplication.get(place) ?? []) {
      own.push(...(yield* read(SERVICE, `${nameOf(service)} of ${place}`, serviceJson(service))));
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
      leftOut.push(`${nameOf(service)} of ${place}: there is no such application.`);
  const opened: ConfiguredCredential[] = [];
  for (const one of credentials) {
    opened.push(...(yield* read(CREDENTIAL, `credential "${String(one.username)}"`, credentialJson(one))));
    yield;
  }
  return { configuration: { applications: known, credentials: opened }, leftOut };
}

function byPlace(services: StoredService[]): Map<string, StoredService[]> {
  const found = new Map<string, StoredService[]>();
  for (const service of services) {
    const place = placeOf(service);
    const others = found.get(place);
    if (others === undefined) found.set(place, [service]);
    else others.push(service);
  }
  return found;
}

function serviceJson(service: StoredService): object {
  const { kind, name, description, filter } = service;
  return {
    kind,
    name,
    description,
    enabled: isEnabled(service) ? undefined : false,
    filter: filterJson(filter),
  };
}

/** Whatever but false or nothing stands in `disabled` closes a credential. */
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

/** Nothing is as good as null in what operators write. */
function withoutNothing(stored: object): object {
  return Object.fromEntries(
    Object.entries(stored).filter(([, value]) => value !== undefined && value !== null),
  );
}

function placeOf({ organizationid, appid }: { organizationid?: unknown; appid?: unknown }): string {
  return `${String(organizationid)}/${String(appid)}`;
}

function nameOf({ kind, name }: StoredService): string {
  return `${String(kind)} service "${String(name)}"`;
}
