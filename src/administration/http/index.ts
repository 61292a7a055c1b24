export { AdministrationModule } from './administration.module.js';
export { Administrative, Asked, Desks } from './administration.js';
export { Answers, Done, SignedInShape } from './answers.js';
export { Body, DocumentedBody } from './shape.pipe.js';
