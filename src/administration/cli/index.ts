export type { Terminal } from './command.js';
export { runProgram } from './program.js';
export { runCommandLine } from './run.js';
