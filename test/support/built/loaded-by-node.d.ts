/** In contract tests: a module as Node itself has loaded it, which the service shares; a path begins at this folder. */
declare function loadedByNode(name: string): unknown;

/** The service that the files of a worker share: see pool/shared.mjs. */
declare const sharedService: {
  get<T extends object>(start: () => Promise<T>): Promise<T>;
  end(): Promise<void>;
};
