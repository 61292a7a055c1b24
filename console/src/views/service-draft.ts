import { admin, pathOf, ServiceError } from '../api/client.js';
import type { Service } from '../api/types.js';
import { draftOf as fieldsOf, type FieldsDraft, settingOf, shownFieldsOf } from '../fields/shown-fields.js';

/** It has no filter, and is served also where none is stored. */
export const DEFAULT = 'default';

/** A service as it was read. */
export interface Version {
  /** Each reading has its own: the form begins anew with it. */
  reading: number;
  service: Service;
  /** Null where none is stored. */
  etag: string | null;
}

/** What may be edited, as the form holds it. */
export interface Draft {
  name: string;
  description: string;
  enabled: boolean;
  /** The filter as JSON. */
  text: string;
  fields: FieldsDraft;
  /** Whether the schema shows examples of values. */
  schemaExamples: boolean;
}

export function draftOf(service: Service): Draft {
  const { name, description = '', enabled, filter } = service;
  const text = JSON.stringify(filter, null, 2);
  const schemaExamples = service.schemaExamples === true;
  return { name, description, enabled, text, fields: fieldsOf(service), schemaExamples };
}

export function hasFilter({ name }: Pick<Service, 'name'>): boolean {
  return name !== DEFAULT;
}

/** What the service takes for a preview of a draft; undefined if the filter is no JSON. */
export function previewed(draft: Draft, isDefault: boolean): object | undefined {
  // It shows everything while it is disabled.
  if (isDefault) return draft.enabled ? chosenIn(draft, isDefault) : { fields: null, hash: null };
  const filter = parsed(draft.text);
  return filter && { filter, ...chosenIn(draft, isDefault) };
}

/**
 * Stores a draft, unless somebody else has stored one since this version was read. Fields that were not edited stay. Returns
 * what is stored.
 */
export async function put(version: Version, draft: Draft, signal: AbortSignal): Promise<Version> {
  const { service, etag } = version;
  const { organizationid, appid, kind } = service;
  const { name, description, enabled, text, fields, schemaExamples } = draft;
  const isDefault = !hasFilter(service);
  const isEdited = JSON.stringify(fields) !== JSON.stringify(fieldsOf(service));
  const body = {
    ...(!isDefault && { filter: JSON.parse(text) as unknown }),
    ...{ description, enabled },
    ...(schemaExamples !== (service.schemaExamples === true) && { schemaExamples: schemaExamples || null }),
    ...((isEdited || shownFieldsOf(service) === undefined) && chosenIn(draft, isDefault)),
  };
  const headers: Record<string, string> = etag === null ? { 'If-None-Match': '*' } : { 'If-Match': etag };
  const path = `applications/${pathOf(organizationid, appid)}/services/${pathOf(kind, name)}`;
  const stored = await admin<Service>(path, { method: 'PUT', headers, body, signal });
  return { ...version, service: stored.body, etag: stored.etag };
}

/** Whether a draft was not stored because somebody else has stored one meanwhile. */
export function isOvertaken(error: unknown, { etag }: Version): boolean {
  return error instanceof ServiceError && error.status === (etag === null ? 409 : 412);
}

export function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function chosenIn({ fields }: Draft, isDefault: boolean): object {
  const { allowHiddenFilter, ...chosen } = settingOf(fields);
  return isDefault ? chosen : { ...chosen, allowHiddenFilter };
}
