export type { ControlChange, Follower } from './change.js';
export { ControlStream } from './control-stream.js';
export { ControlModule } from './control.module.js';
export { KnownDocuments } from './known-documents.js';
