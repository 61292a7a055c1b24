export { CHECKS } from './checks/index.js';
export type { ContractCheck, ContractPart } from './contract-check.js';
export type { Finding } from './findings.js';
export type { BasicLogin } from './http-answer.js';
export { judge, type Judgement, type JudgedCheck, type JudgeOptions } from './judge.js';
export type { JudgedServer } from './target.js';
export { CannotJudgeError, type WireBounds } from './wire.js';
