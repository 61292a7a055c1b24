export * from './plain.js';
export { openApiDocument, serveDocs } from './docs.js';
export { type OtherMethodHandler, ProblemFilter, ReadyExpressAdapter, forbid } from './express-adapter.js';
export { DocumentedBody, DocumentedOptionalBody, ProblemOr, Problems } from './openapi.js';
export { OptionalRequestBody, RequestBody } from './request-body.js';
