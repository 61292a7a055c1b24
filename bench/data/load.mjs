const BATCH = 5000;

/** Fills a collection with so many documents, in the order of their places. */
export async function load(collection, items, documentAt) {
  for (let first = 0; first < items; first += BATCH) {
    const count = Math.min(BATCH, items - first);
    const documents = Array.from({ length: count }, (_, index) => documentAt(first + index));
    await collection.insertMany(documents, { ordered: false });
  }
}
