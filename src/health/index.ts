export { Gauges } from './gauges.js';
export { HealthModule } from './health.module.js';
