/**
 * The one clock of design §3, as an aggregation expression: the greater of `$$NOW` and the second of the cluster
 * time, which does not step back when a fail-over ends on a server whose own clock is slow.
 */
export const CLOCK = { $max: ['$$NOW', { $toDate: '$$CLUSTER_TIME' }] };

/** A stamp further ahead of the clock than this lies in the future (milliseconds). */
export const FUTURE_TOLERANCE_MS = 1000;
