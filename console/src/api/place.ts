/** The page tells where the console is, relative to its own address: a proxy may serve both behind a prefix. */
const told = document.querySelector<HTMLMetaElement>('meta[name="tidemark-console"]')!.content;

/** The path of the console, such as `/console` or `/tidemark/console`. */
export const CONSOLE = new URL(told, location.href).pathname.replace(/\/$/, '');

/** The path before those of the service: empty, or such as `/tidemark`. */
export const SERVICE = CONSOLE.replace(/\/console$/, '');
