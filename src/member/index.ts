export { emailKeyOf } from './email-key.js';
export { MemberModule } from './member.module.js';
export { MEMBER_MODEL } from './member.schema.js';
