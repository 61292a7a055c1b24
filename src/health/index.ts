export { Gauges } from './metrics.controller.js';
export { HealthModule } from './health.module.js';
