/** Ends the replica set that the setup of this run started. */
export default async function tearDown() {
  await globalThis.stopTestMongod?.();
}
