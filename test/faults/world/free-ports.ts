import { freePort } from '../../../src/embedded/index.js';

/** Ports that are free now, all different. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort('127.0.0.1'));
  return [...ports];
}
