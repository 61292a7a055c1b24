import { freshDataDir, gone, removeDataDir, ServiceProcess } from '../support/process.js';

jest.setTimeout(120_000);

/** A value of a field that a service hides. */
const CANARY = 'canary-5e90';

/** An error such as the driver's: its message and its properties have values of the record. */
const ERROR = `Object.assign(new TypeError('dup key:\\n    at ${CANARY} (x:1:1)\\nfrom ${CANARY}', { cause: new Error('${CANARY}') }), {
  code: 11000, keyValue: { email: '${CANARY}' }, writeErrors: [{ op: { data: { email: '${CANARY}' } } }] })`;

/** A module that Node loads before the service. It crashes the process on a signal. */
const onSignal = (crash: string) =>
  `--import data:text/javascript;base64,${btoa(`process.once('SIGUSR2', () => { ${crash} });`)}`;

describe('An error that nothing catches', () => {
  let dataDir: string;
  let service: ServiceProcess;
  beforeEach(async () => (dataDir = await freshDataDir()));
  afterEach(async () => {
    await service.stop();
    await removeDataDir(dataDir);
  });

  it.each([
    ['is thrown', `throw ${ERROR}`, 'TypeError (11000)'],
    ['rejects a promise', `void Promise.reject(${ERROR})`, 'TypeError (11000)'],
    ['is a text', `throw '${CANARY}'`, 'an error that has no stack'],
  ])(
    'ends the service and its database, and no value of a record is printed: it %s',
    async (_how, crash, name) => {
      service = await ServiceProcess.start({
        dataDir,
        environment: { NODE_OPTIONS: onSignal(crash), LOG_LEVEL: 'trace' },
      });
      const { node, mongod } = await service.pids();
      process.kill(node, 'SIGUSR2');
      expect(await service.exited).toBe(1);
      expect(service.said.join('\n')).toContain(`Tidemark ends after an unexpected error: ${name}`);
      expect(service.lines.filter((line) => line.includes(CANARY))).toEqual([]);
      await gone(mongod);
    },
  );
});
