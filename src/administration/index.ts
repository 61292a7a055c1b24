export { AdministrationModule } from './administration.module.js';
export { Administrative, Asked, Desks } from './http/administration.js';
export { Answers, Done, SignedInShape } from './http/answers.js';
export { Body, DocumentedBody } from './http/shape.pipe.js';
export * from './plain.js';
