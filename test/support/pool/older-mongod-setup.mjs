import { build, startSets } from './replica-sets.mjs';

/** One replica set of the project's version, see TIDEMARK_TEST_OLDER_MONGODB_URI in environment.mjs. */
export default async function setUp(_globalConfig, { testEnvironmentOptions: { mongod } }) {
  build();
  const [uri] = await startSets(1, mongod);
  process.env.TIDEMARK_TEST_OLDER_MONGODB_URI = uri;
}
