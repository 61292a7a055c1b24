export type { Terminal } from './command.js';
export { runProgram, runCommandLine } from './program.js';
