#!/usr/bin/env node
/** npm links a program only where its file is there when it installs, and `dist/` comes later. */
import { existsSync } from 'node:fs';

const program = new URL('../dist/command/main.js', import.meta.url);

if (existsSync(program)) await import(program.href);
else {
  console.error('tidemark-harvest is not built: run npm run build.');
  process.exitCode = 2;
}
