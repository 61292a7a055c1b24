export { type AboutRequest, type RequestLine, ServiceLogger } from './logging.js';
export { Metrics, measure } from './metrics.js';
export { ObservabilityModule } from './observability.module.js';
