import { completesCommands } from './completion-cases.js';

jest.setTimeout(180_000);

describe('`completion zsh`, in a terminal', () => {
  completesCommands('zsh');
});
