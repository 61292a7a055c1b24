export { ChannelLookup } from './channel-lookup.js';
export { ChangesPages, type ChangesRequest, ChangesSelector, LINES_TYPE } from './changes/index.js';
export { behindPlace, cursorOf, isWithin, type ChangesPlace, placeOf, type Within } from './changes/index.js';
export { type DigestRequest, Digests } from './digest/index.js';
export { FeedSelector } from './feed-selector.js';
export {
  type ChangesFeed,
  channelSoftDeletes,
  channelUpdates,
  hardDeletesOf,
  nameOf,
  softDeletesOf,
  updatesOf,
} from './feed.js';
export { Hearing } from './hearing.js';
export { ItemSizes } from './item-sizes.js';
export { Openings } from './openings.js';
export { PageBytes, Share } from './page-bytes.js';
export { PageMoment } from './page-moment.js';
export { PageReader } from './page-reader.js';
export type { PageRequest } from './page-request.js';
export type { OpenPage, Page } from './page.js';
export { Pages } from './pages.js';
export { ReadPlaces } from './read-places.js';
export { Retention } from './retention.js';
