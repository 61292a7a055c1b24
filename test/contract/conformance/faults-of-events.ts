import { at, type FaultsOfChecks, later, type Plant, problem } from './planting.js';

const EVENTS = /\/events$/;

/** Faults of each comment and event of a stream. */
const inStreams = (change: (block: string) => string | undefined): Plant =>
  at(EVENTS, ({ body }) => {
    if (body.blocks !== undefined) body.blocks = changed(body.blocks, change);
  });

async function* changed(blocks: AsyncIterable<string>, change: (block: string) => string | undefined) {
  for await (const block of blocks) {
    const other = change(block);
    if (other !== undefined) yield other;
  }
}

/** An event with an offset that is so many milliseconds later. */
const withOffset = (ms: number) => (block: string) =>
  block.replaceAll(/(?<=^(?:id|data): ).*$/gm, (offset) => later(offset, ms));

export const OF_EVENTS: FaultsOfChecks = {
  'events-stream': {
    'events are plain text': at(EVENTS, ({ headers }) => headers.set('content-type', 'text/plain')),
    'a stream begins with an event': inStreams((block) => (block.startsWith(':') ? undefined : block)),
  },
  'events-max': {
    'an event without an id': inStreams((block) => block.replace(/^id: .*\n/m, '')),
    'an event of another name': inStreams((block) => block.replace('event: max', 'event: offset')),
    'an event tells what max does not yet': inStreams(withOffset(1)),
    'an event tells what max does no more': inStreams(withOffset(-1)),
    'no event comes': inStreams((block) => (block.startsWith(':') ? block : undefined)),
  },
  'events-known': {
    'Last-Event-ID is not looked at': { request: ({ headers }) => headers.delete('last-event-id') },
  },
  'events-access': {
    'events are open to everybody': problem('unauthorized', (answer) => (answer.status = 200)),
    'events of an unknown application are empty': problem(
      'unknown-application',
      (answer) => (answer.status = 200),
    ),
  },
};
