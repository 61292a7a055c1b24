/**
 * Aborted after a number of milliseconds, or before with `stop`. `AbortSignal.any` refers weakly to the timeout: Node 20 may collect
 * one that has no listener of its own, and then nothing ends the wait.
 */
export function endsAfter(ms: number, stop: AbortSignal): AbortSignal {
  const late = AbortSignal.timeout(ms);
  late.addEventListener('abort', () => undefined, { once: true });
  return AbortSignal.any([stop, late]);
}
