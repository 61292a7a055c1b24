import type { Workplace } from './program.js';
import { type Copy, held } from './source.js';

const READ = `
import duckdb, json, sys
with duckdb.connect(sys.argv[1], read_only=True) as copy:
    print(json.dumps(copy.sql("select id, epoch_ms(lastupdated), data from tidemark.records").fetchall()))
`;

/** The table `records` of a DuckDB file. */
export async function duckdbCopy(place: Workplace): Promise<Copy> {
  const { how, stdout, stderr } = await place.run('python', '-c', READ, place.file('copy.duckdb')).end();
  if (how !== 0) throw new Error(stderr);
  const rows = JSON.parse(stdout) as [string, number, string][];
  return new Map(
    rows.map(([id, stamp, data]) => [id, held(stamp, JSON.parse(data) as Record<string, unknown>)]),
  );
}
