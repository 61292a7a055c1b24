/** The name under which the package installs the commands. */
export const PROGRAM = 'tidemark-admin';
