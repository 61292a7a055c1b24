/**
 * The faults that the tests are shown to find: one small change of a line each, which compiles and would be noticed late.
 * At least one for each room and each package. `from` stands once in `file`; `tests` are the test files that find it, one
 * that does being enough, and each begins with its Jest project.
 */
import { ofFeeds } from './faults-of-feeds.mjs';
import { ofFoundations } from './faults-of-foundations.mjs';
import { ofKinds } from './faults-of-kinds.mjs';
import { ofOperation } from './faults-of-operation.mjs';
import { ofPackages } from './faults-of-packages.mjs';
import { ofReplication } from './faults-of-replication.mjs';

export const FAULTS = [
  ...ofFoundations,
  ...ofReplication,
  ...ofFeeds,
  ...ofKinds,
  ...ofOperation,
  ...ofPackages,
];
