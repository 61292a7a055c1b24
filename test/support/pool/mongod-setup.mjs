import { build, startSets } from './replica-sets.mjs';

const MOST = 4;

/**
 * A replica set for each worker, four at most: some tests hold theirs still, or fill its log. TIDEMARK_TEST_MONGODB_URIS has
 * their addresses, separated by spaces. Where TIDEMARK_TEST_MONGODB_URI names one, that one serves all tests instead.
 * TIDEMARK_TEST_MONGOD says of which version they are.
 */
export default async function setUp({ maxWorkers }) {
  build();
  if (process.env.TIDEMARK_TEST_MONGODB_URI !== undefined) return;
  const uris = await startSets(Math.min(maxWorkers, MOST), process.env.TIDEMARK_TEST_MONGOD);
  process.env.TIDEMARK_TEST_MONGODB_URIS = uris.join(' ');
}
