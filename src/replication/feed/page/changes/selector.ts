import { Injectable } from '@nestjs/common';
import type { Application } from '../../../../application/index.js';
import { carries, notMatching, type Selection, tombstones } from '../../query/index.js';
import type { ItemShape } from '../../transcode/index.js';
import { type ChangesFeed, type Feed, nameOf } from '../feed.js';
import { FeedSelector, type Selected, shapeOf } from '../feed-selector.js';
import type { Section } from './cursor.js';

/** One section of `changes`: the feed that tells the same, what it is about, and how it is shown. */
export interface SectionOf {
  section: Section;
  feed: string;
  selection: Selection;
  shape: ItemShape;
}

/** All sections, by one version of the service's filter. */
export interface SelectedChanges extends Pick<Selected, 'service'> {
  sections: SectionOf[];
}

/** Finds out which documents `changes` are about. */
@Injectable()
export class ChangesSelector {
  constructor(private readonly feeds: FeedSelector) {}

  /** Throws where the service is off by now, or its filter invalid. It is known mostly; a channel is never switched off. */
  async assertServed(application: Application, { kind, by }: ChangesFeed): Promise<void> {
    if ('service' in by) await this.feeds.select(application, { kind, shows: 'updates', by });
  }

  /** Throws as {@link FeedSelector.select} does. */
  async select(application: Application, { kind, by }: ChangesFeed): Promise<SelectedChanges> {
    const updates: Feed = { kind, shows: 'updates', by };
    const { selection, service } = await this.feeds.select(application, updates);
    const filter = 'channel' in by ? carries(by.channel) : service?.filter;
    const named = (feed: Feed) => nameOf(application, feed);
    const shape = shapeOf(application, updates);
    return {
      ...(service && { service }),
      sections: [
        {
          section: 'matching',
          feed: named(updates),
          selection: selection!,
          shape: shape.item === 'update' ? { ...shape, item: 'upsert' } : shape,
        },
        ...(filter === undefined
          ? []
          : [
              {
                section: 'left' as const,
                feed: named({ kind, shows: 'softdeletes', by }),
                selection: notMatching(application, kind, filter),
                shape: { item: 'left' } as const,
              },
            ]),
        {
          section: 'gone',
          feed: named({ kind, shows: 'harddeletes' }),
          selection: tombstones(application, kind),
          shape: { item: 'gone' },
        },
      ],
    };
  }
}
