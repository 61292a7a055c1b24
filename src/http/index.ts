export { openApiDocument, serveDocs } from './docs.js';
export { type OtherMethodHandler, ReadyExpressAdapter } from './express-adapter.js';
export { ProblemOr, Problems } from './openapi.js';
export * from './plain.js';
export { ProblemFilter } from './problem.filter.js';
export { forbid } from './security-headers.js';
