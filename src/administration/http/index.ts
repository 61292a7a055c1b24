export { AdministrationModule } from './administration.module.js';
export { Administrative, Asked, Body, ChangeContexts, DocumentedBody } from './administration.js';
export { Answers, Done, SignedInShape } from './answers.js';
