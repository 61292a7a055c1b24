export type { ControlChange, Follower } from './change.js';
export { ControlStream, ControlModule } from './control-stream.js';
export { KnownDocuments } from './known-documents.js';
