import { completesCommands } from './completion-cases.js';

jest.setTimeout(60_000);

describe('`completion zsh`, in a terminal', () => {
  completesCommands('zsh');
});
