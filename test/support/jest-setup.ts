import 'reflect-metadata';

/** Milliseconds for one test or hook: it ends when its conditions hold, however loaded the machine is. */
jest.setTimeout(240_000);
