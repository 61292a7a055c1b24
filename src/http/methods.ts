import type { Express } from 'express';

/** The methods that each path of an application has routes for. A path that takes every method is not among them. */
export function methodsByPath({ router }: Pick<Express, 'router'>): Map<string, string[]> {
  const found = new Map<string, Set<string | undefined>>();
  for (const { route } of router.stack) {
    if (route === undefined) continue;
    const methods = found.get(route.path) ?? new Set();
    found.set(route.path, methods);
    for (const { method } of route.stack as { method: string | undefined }[]) {
      methods.add(method?.toUpperCase());
      if (method === 'get') methods.add('HEAD');
    }
  }
  const limited = [...found].filter(([, methods]) => !methods.has(undefined));
  return new Map(limited.map(([path, methods]) => [path, [...methods] as string[]]));
}
