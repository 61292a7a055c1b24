/** The last day of support for each line of Node, as its release schedule has it. */
const LAST_DAYS: Record<string, string> = {
  20: '2026-04-30',
  21: '2024-06-01',
  22: '2027-04-30',
  23: '2025-06-01',
  24: '2028-04-30',
  25: '2026-06-01',
  26: '2029-04-30',
};

/** A sentence for the operator if Node's own support for this version has ended; otherwise undefined. */
export function endedSupport(version = process.versions.node, now = new Date()): string | undefined {
  const [line = ''] = version.split('.');
  const today = now.toISOString().slice(0, 10);
  const last = LAST_DAYS[line];
  if (last === undefined || today <= last) return undefined;
  const [longest] = Object.entries(LAST_DAYS).toSorted(([, one], [, other]) => (one < other ? 1 : -1));
  const better = longest !== undefined && longest[1] >= today ? `Node ${longest[0]}` : 'a later one';
  return (
    `The support of Node ${line} ended on ${last}: this version (${version}) gets no more fixes, not even for security. ` +
    `Run the service on ${better}.`
  );
}
