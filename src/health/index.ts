export { Gauges, MetricsPort } from './metrics.controller.js';
export { Readiness } from './readiness.js';
export { HealthModule } from './health.module.js';
