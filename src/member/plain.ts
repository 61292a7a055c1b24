export { emailKeyOf } from './email-key.js';
export { MEMBER_MODEL, memberModels } from './member.schema.js';
