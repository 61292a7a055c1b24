/**
 * The paths of health, metrics, the console and the documentation. An organization may have the name of one of these: its
 * paths have `/api/` and a version after the application.
 */
const ABOUT_THE_SERVICE =
  /^\/(health\/(live|ready)|metrics|console(?!\/[^/]+\/api\/v[01.]+\/)(\/.*)?|docs(\/[^/]*)?|openapi\.json)$/;

/** Pages for browsers, and their files. */
const PAGES = /^\/docs(\/[^/]*)?$/;

/** The paths of an application console/assets are longer. */
const CONSOLE_FILES = /^\/console\/assets\/[^/]*$/;

/** Whether a path is about the service itself, and not about an application. */
export function isAboutTheService(path: string): boolean {
  return ABOUT_THE_SERVICE.test(path);
}

/** Whether a path leads to a page under `/docs` or to one of its files. */
export function isOfPages(path: string): boolean {
  return PAGES.test(path);
}

/** Whether a path leads to a file of the console. */
export function isConsoleFile(path: string): boolean {
  return CONSOLE_FILES.test(path);
}
