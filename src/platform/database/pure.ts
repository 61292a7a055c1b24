/**
 * The one clock of design §3, as an aggregation expression: the greater of `$$NOW` and the second of the cluster
 * time. The cluster time does not step back if the primary after a fail-over has a slow clock.
 */
export const CLOCK = { $max: ['$$NOW', { $toDate: '$$CLUSTER_TIME' }] };

/** A stamp that is further ahead of the clock than this is in the future (milliseconds). */
export const FUTURE_TOLERANCE_MS = 1000;
