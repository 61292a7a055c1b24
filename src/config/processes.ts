/** The process id of this service. */
export const ownPid = (): number => process.pid;

/** The current process id of the parent: it changes when the parent dies. */
export const parentPid = (): number => process.ppid;

/** How many files and connections the process may have open; undefined if the system does not report it. */
export function descriptorLimit(): number | undefined {
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft: unknown } } };
  const soft = userLimits?.open_files?.soft;
  if (soft === 'unlimited') return Infinity;
  return typeof soft === 'number' ? soft : undefined;
}

/** Whether npm (or a tool that sets the same variable) started this process, and so is its parent. */
export const startedByNpm = (): boolean => process.env.npm_lifecycle_event !== undefined;

/** Whether a process with this id exists, under any user. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
