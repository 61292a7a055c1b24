export { Gauges } from './metrics.controller.js';
export { MetricsPort } from './metrics-port.js';
export { Readiness } from './readiness.js';
export { HealthModule } from './health.module.js';
