import { type ChangesOptions, changesFeed } from './feed/changes.js';
import type { Feed } from './feed/feed.js';
import { type FeedWindow, seedFeed } from './feed/seed.js';
import type { Sender } from './http/sender.js';
import type { ChangeItem, ChangesPage, DeleteItem, Page, UpdateItem } from './shapes.js';

/** The products of a channel. 404 `unknown-channel` where no product has ever carried it. */
export class Channel {
  constructor(
    private readonly sender: Sender,
    readonly name: string,
  ) {}

  /** The products that carry the channel. */
  updates(window: FeedWindow = {}): Feed<UpdateItem, Page<UpdateItem>> {
    return seedFeed(this.sender, ['productbychannel', this.name, 'updates'], window);
  }

  /** The products that do not, or no longer. */
  softdeletes(window: FeedWindow = {}): Feed<DeleteItem, Page<DeleteItem>> {
    return seedFeed(this.sender, ['productbychannel', this.name, 'softdeletes'], window);
  }

  /** All that changed, deletes among it, in one feed. */
  changes(options: ChangesOptions = {}): Feed<ChangeItem, ChangesPage> {
    return changesFeed(this.sender, ['productbychannel', this.name, 'changes'], options);
  }
}
