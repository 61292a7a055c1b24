import { describeCommand } from '../command.js';
import { NARROWED, COMPARED } from '../options.js';

export const configExport = describeCommand({
  name: 'config export',
  summary: 'Print applications, services and credentials as a YAML file, without passwords',
  options: NARROWED,
  notes: ['npm run -s admin -- config export > tidemark.yaml'],
});

export const configPlan = describeCommand({
  name: 'config plan',
  summary: 'Tell what a configuration file would change, and what each changed filter would do',
  argument: 'FILE.yaml|-',
  options: COMPARED,
  notes: ['Nothing is changed. + is made, ~ is changed, - is removed.'],
});

export const configApply = describeCommand({
  name: 'config apply',
  summary: 'Change applications, services and credentials to what a file says, all of it or nothing',
  argument: 'FILE.yaml|-',
  options: { ...COMPARED, yes: { description: 'do not ask first' } },
  notes: [
    'The plan is shown first. If the configuration changes in the meantime, nothing is applied.',
    'Credentials that it makes get a random password each, printed this once.',
  ],
});
