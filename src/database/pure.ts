export { CLOCK, FUTURE_TOLERANCE_MS } from './clock.js';
