export const REPLICA_SET = 'tidemark';
export const HOST = '127.0.0.1';

/**
 * What keeps a mongod of one machine out of `/tmp`, without diagnostics on the disk, and without compression by zlib,
 * through which unpatched servers give their memory away (CVE-2025-14847).
 */
export const reticent = [
  '--nounixsocket',
  ...['--setParameter', 'diagnosticDataCollectionEnabled=false'],
  ...['--networkMessageCompressors', 'snappy,zstd'],
];

export const small = ['--oplogSize', '256', '--wiredTigerCacheSizeGB', '0.5'];
