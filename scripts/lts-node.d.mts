export const ltsNode: { version: string; path: string };
