export { demo } from './demo.js';
export { DEMO } from './generator.js';
