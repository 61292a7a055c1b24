import { setFlagsFromString } from 'node:v8';

/**
 * Configures V8 for a service that allocates and frees large buffers beside a small, stable heap.
 *
 * V8 counts the buffers as part of the heap. After some time it starts a full collection whenever the heap has grown by
 * only a few dozen megabytes, and a harvest allocates many times that amount in each second. The cheap collections
 * of young objects would free the buffers. But each full collection empties the young generation, so the next cheap one
 * comes too late again. A service that reaches this state stays in it, at twice the CPU per page. If the heap may
 * double between two full collections, the service does not reach this state.
 */
export function setUpHeap(): void {
  setFlagsFromString('--heap-growing-percent=100');
}
