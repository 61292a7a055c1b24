export { ConsumerNotes } from './consumer-notes.js';
export { ConsumersModule } from './consumers.module.js';
export * from './plain.js';
