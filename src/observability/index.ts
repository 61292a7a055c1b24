export { type AboutRequest, type RequestLine, ServiceLogger } from './logging.js';
export { measure } from './measure.js';
export { Metrics } from './metrics.js';
export { CommonModule } from './observability.module.js';
