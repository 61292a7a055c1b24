export type { DigestRequest } from './digest-text.js';
export { Digests } from './digests.js';
