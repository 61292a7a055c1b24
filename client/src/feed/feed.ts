/** Items page by page: `for await (const item of feed)`, or `for await (const page of feed.pages())`. */
export class Feed<Item, Whole extends { result: Item[] }> implements AsyncIterable<Item> {
  /** `pages` reads the pages anew each time that it is called. */
  constructor(readonly pages: () => AsyncIterable<Whole>) {}

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void> {
    for await (const page of this.pages()) yield* page.result;
  }
}
