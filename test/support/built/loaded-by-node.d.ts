/** In contract tests: a module as Node itself has loaded it, which the service shares; a path begins at this folder. */
declare function loadedByNode(name: string): unknown;
