import { useEffect, useState } from 'react';
import { admin, pathOf, ServiceError } from '../api/client.js';
import type { Preview, Service } from '../api/types.js';
import type { Fault } from '../fields/shown-fields.js';
import { type Loaded, useLoaded } from '../hooks/use-loaded.js';

const PAUSE_MS = 500;

/** As the service takes it for a name. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/**
 * What an edit would do to the service of this name, some time after the last key; undefined where there is nothing to ask
 * about, such as a filter that is no JSON.
 */
export function usePreview(
  { organizationid, appid, kind }: Pick<Service, 'organizationid' | 'appid' | 'kind'>,
  edit: object | undefined,
  name: string,
): Loaded<Preview> & { faults: Fault[] } {
  const settled = useSettled(edit && JSON.stringify({ ...edit, ...(NAME.test(name) && { name }) }));
  const key = settled && JSON.stringify([organizationid, appid, kind, settled]);
  const path = `applications/${pathOf(organizationid, appid)}/preview/${kind}`;
  const loaded = useLoaded(key, async (signal) => {
    const body = JSON.parse(settled!) as object;
    return (await admin<Preview>(path, { method: 'POST', body, signal })).body;
  });
  return { ...loaded, faults: faultsOf(loaded.error) };
}

/** The faults that the service found in the edit; none for any other error. */
function faultsOf(error: unknown): Fault[] {
  if (!(error instanceof ServiceError) || error.status !== 400) return [];
  return error.errors.length > 0 ? error.errors : [{ detail: error.detail }];
}

/** A value once it has not changed for a while. */
function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
