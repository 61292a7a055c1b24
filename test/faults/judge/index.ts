export { differences } from './differences.js';
export { itemsOf } from './expected-items.js';
export { judge } from './judge.js';
