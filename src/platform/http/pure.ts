export { type InputError, Problem, type ProblemBody } from './problem.js';
export { problems, type Waiting } from './problems.js';
