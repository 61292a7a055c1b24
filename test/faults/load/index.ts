export { harvest } from './harvest.js';
export { worldOf } from './populated.js';
export { Repeatedly } from './repeatedly.js';
