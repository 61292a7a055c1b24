import { OF_CHANGES, OF_DIGEST, OF_WRITES } from './faults-of-changes.js';
import { OF_EVENTS } from './faults-of-events.js';
import { OF_MAX, OF_PAGES, OF_WINDOWS } from './faults-of-pages.js';
import { OF_ACCESS, OF_FEEDS, OF_PARAMETERS } from './faults-of-requests.js';
import type { PlantedFault } from './wrong-server.js';

const GROUPS = [
  OF_MAX,
  OF_PAGES,
  OF_WINDOWS,
  OF_PARAMETERS,
  OF_FEEDS,
  OF_ACCESS,
  OF_CHANGES,
  OF_DIGEST,
  OF_EVENTS,
  OF_WRITES,
];

/** What a wrong server does, one fault at a time, with the check that is meant to find it. */
export const FAULTS: PlantedFault[] = GROUPS.flatMap((group) => Object.entries(group)).flatMap(
  ([finds, plants]) => Object.entries(plants).map(([what, plant]) => ({ finds, what, ...plant })),
);
