export { type InputError, Problem, type ProblemBody } from './problem.js';
export { problems } from './problems.js';
