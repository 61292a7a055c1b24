export { DEMO } from './demo.js';
export { demo } from './guide.js';
