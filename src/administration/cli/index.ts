export { runCommandLine } from './run.js';
