export { emailKeyOf } from './email-key.js';
export { MEMBER_MODEL } from './member.schema.js';
export { MemberModule } from './member.module.js';
