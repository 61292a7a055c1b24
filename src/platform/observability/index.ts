export { type AboutRequest, type RequestLine, ServiceLogger } from './logging.js';
export { Metrics } from './metrics.js';
export { measure } from './measure.js';
export { Tracing } from './tracing.js';
export { ObservabilityModule } from './observability.module.js';
