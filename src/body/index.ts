export { OptionalRequestBody, RequestBody } from './request-body.js';
