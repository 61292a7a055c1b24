export { COPY_FORMS, type CopyForm } from './kill-plan.js';
export { type KillReport, killRun } from './kill-run.js';
export { type BegunStage, killStage } from './stage.js';
