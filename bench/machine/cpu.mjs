/** CPU time of processes, from /proc (Linux only). */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

/** Linux counts in hundredths of a second for every program that asks, whatever its own clock. */
const TICK_US = 10_000;

/** Where the numbers stand behind the name of the program: its parent, then user and system time, own and of children. */
const PARENT = 1;
const TIMES = [11, 12, 13, 14];
/** What `clear_refs` takes for the peak of resident memory. */
const PEAK = '5';

/** CPU time in microseconds that a process and all below it have used, children that have ended included. */
export function cpuOf(pid) {
  return cpuOfEach(pid).reduce((sum, { cpu }) => sum + cpu, 0);
}

/** The same told apart: `{ name, cpu }` of each process that runs. */
export function cpuOfEach(pid) {
  return treeOf(pid)
    .map((member) => statOf(member))
    .filter(Boolean)
    .map(({ name, fields }) => ({
      name,
      cpu: TIMES.reduce((sum, at) => sum + Number(fields[at]) * TICK_US, 0),
    }));
}

/** The process and all that stem from it, those that started others first. */
export function treeOf(pid) {
  const parents = new Map(processes().map((one) => [one, Number(statOf(one)?.fields[PARENT])]));
  const tree = [pid];
  for (const member of tree) tree.push(...[...parents.keys()].filter((one) => parents.get(one) === member));
  return tree;
}

/** Resident memory of a process in bytes. */
export function residentOf(pid) {
  return bytesOf('VmRSS', pid);
}

/** The most resident memory that a process had since its start, or since `forgetPeakOf`, in bytes. */
export function peakOf(pid) {
  return bytesOf('VmHWM', pid);
}

/** Lets the peak begin again at what is resident now. */
export function forgetPeakOf(pid) {
  writeFileSync(`/proc/${pid}/clear_refs`, PEAK);
}

function bytesOf(name, pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)[1]) * 1024;
}

function processes() {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** The program's name, which may hold blanks and brackets, and the fields behind it; nothing where the process has ended. */
function statOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [begin, end] = [stat.indexOf('(') + 1, stat.lastIndexOf(')')];
    return { name: stat.slice(begin, end), fields: stat.slice(end + 2).split(' ') };
  } catch {
    return undefined;
  }
}
