/** A document to be written with its names as they come, doubled ones too: the driver takes it for a Map. */
export class FieldList extends Map<string, unknown> {
  /** The driver looks here whether it has to make one. */
  readonly _id: unknown;

  constructor(private readonly list: readonly (readonly [string, unknown])[]) {
    super();
    this._id = list.find(([name]) => name === '_id')?.[1];
  }

  override *entries(): MapIterator<[string, unknown]> {
    for (const [name, value] of this.list) yield [name, value];
  }

  override [Symbol.iterator](): MapIterator<[string, unknown]> {
    return this.entries();
  }
}
