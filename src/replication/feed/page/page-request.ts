import type { Window } from '../query/index.js';

/** The page that a request asks for: its path, and the window of its parameters. */
export interface PageRequest {
  path: string;
  window: Window;
}
