export { emailKeyOf } from './merge.js';
export { MEMBER_MODEL, memberModels } from './member.schema.js';
