export { emailKeyOf } from './merge.js';
