/** The name under which the package installs the commands. */
export const PROGRAM = 'tidemark-admin';

/** The shells whose command lines it completes. */
export const SHELLS = ['bash', 'zsh'] as const;
