import { useEffect, useState } from 'react';
import { admin, pathOf, ServiceError } from '../api/client.js';
import type { Preview, Service } from '../api/types.js';
import { type Loaded, useLoaded } from '../hooks/use-loaded.js';

const PAUSE_MS = 500;

/** As the service takes it for a name. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/**
 * What the filter in the editor would do to the service of this name, some time after the last key; a filter that is no JSON
 * is not asked about.
 */
export function usePreview(
  { organizationid, appid, kind }: Pick<Service, 'organizationid' | 'appid' | 'kind'>,
  text: string,
  name: string,
): Loaded<Preview> & { fault: string | undefined } {
  const settled = useSettled(text);
  const settledName = useSettled(name);
  const filter = parsed(settled);
  const named = NAME.test(settledName) ? { name: settledName } : {};
  const of = [organizationid, appid, kind, named, settled];
  const key = filter === undefined ? undefined : JSON.stringify(of);
  const path = `applications/${pathOf(organizationid, appid)}/preview/${kind}`;
  const loaded = useLoaded(key, async (signal) => {
    const body = { filter, ...named };
    return (await admin<Preview>(path, { method: 'POST', body, signal })).body;
  });
  return { ...loaded, fault: faultOf(loaded.error) };
}

/** What the service finds wrong in the filter; nothing where the trouble is another one. */
export function faultOf(error: unknown): string | undefined {
  if (!(error instanceof ServiceError) || error.status !== 400) return undefined;
  return error.errors.find(({ pointer }) => pointer === '/filter')?.detail ?? error.detail;
}

export function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A value once it has not changed for a while. */
function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
