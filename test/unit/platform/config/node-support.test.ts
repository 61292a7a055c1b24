import { endedSupport } from '../../../../src/platform/config/index.js';

const on = (version: string, day: string) => endedSupport(version, new Date(`${day}T12:00:00Z`));

describe('one warning line at start where the support of this Node has ended', () => {
  it.each([
    ['20.20.2', '2026-04-30'],
    ['22.1.0', '2027-04-30'],
    ['24.0.0', '2028-04-30'],
    ['25.2.0', '2026-06-01'],
    ['26.10.0', '2029-04-30'],
  ])('Node %s: not on its last day, %s', (version, last) => {
    expect(on(version, last)).toBeUndefined();
  });

  it.each([
    ['20.20.2', '2026-05-01', '2026-04-30', 'Node 26'],
    ['21.0.0', '2025-01-01', '2024-06-01', 'Node 26'],
    ['22.1.0', '2027-05-01', '2027-04-30', 'Node 26'],
    ['26.0.0', '2029-05-01', '2029-04-30', 'a later one'],
  ])('Node %s: on %s', (version, day, last, better) => {
    expect(on(version, day)).toBe(
      `The support of Node ${version.split('.')[0]} ended on ${last}: this version (${version}) gets no more fixes, not even for ` +
        `security. Run the service on ${better}.`,
    );
  });

  it('not for a version that is not known yet', () => {
    expect(on('99.0.0', '2099-01-01')).toBeUndefined();
  });

  it('by default it looks at the Node that runs, today', () => {
    expect(endedSupport()).toBe(endedSupport(process.versions.node, new Date()));
  });
});
