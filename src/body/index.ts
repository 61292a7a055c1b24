export { RequestBody } from './request-body.js';
