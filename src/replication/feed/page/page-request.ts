import type { Window } from '../query/index.js';

/** The page that a request asks for: the window of its parameters. */
export interface PageRequest {
  window: Window;
}
