export { MemberModule } from './member.module.js';
export * from './plain.js';
