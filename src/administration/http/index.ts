export { AdministrationModule } from './administration.module.js';
export { Administrative, Asked, Body, ChangeContexts } from './administration.js';
export { Answers, Done, ScopeShape } from './answers.js';
