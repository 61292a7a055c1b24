import { SETTINGS } from '../../src/platform/config/index.js';
import { type Answer, patiently, type TestService } from '../support/index.js';

const FOR_EVER_MS = 3_600_000;

interface Content {
  status: number;
}

interface Both {
  known: Content[];
  read: Content[];
}

/** What requests get where what the instance knows counts whatever its age, and where nothing is known. */
export class KnownAndRead {
  private readonly settings: { knowledgeMs: number };

  constructor(service: TestService) {
    this.settings = service.app.get<{ knowledgeMs: number }>(SETTINGS, { strict: false });
    this.settings.knowledgeMs = FOR_EVER_MS;
  }

  /** Once more where only one of the two is served: the watcher of a busy machine was late for the other. */
  ask(requests: () => Promise<Answer>[]): Promise<Both> {
    const isLate = ({ known, read }: Both) =>
      known.some(
        ({ status }, place) => status !== read[place]?.status && [status, read[place]?.status].includes(503),
      );
    return patiently(() => this.askOnce(requests), isLate);
  }

  /** Once more until all of them are served. */
  served(requests: () => Promise<Answer>[]): Promise<Both> {
    const isLate = ({ known, read }: Both) => [...known, ...read].some(({ status }) => status === 503);
    return patiently(() => this.askOnce(requests), isLate);
  }

  private async askOnce(requests: () => Promise<Answer>[]): Promise<Both> {
    const known = await contentsOf(requests());
    this.settings.knowledgeMs = 0;
    try {
      return { known, read: await contentsOf(requests()) };
    } finally {
      this.settings.knowledgeMs = FOR_EVER_MS;
    }
  }
}

/** All that does not differ from one request to the next: an estimate counts down between the two. */
async function contentsOf(requests: Promise<Answer>[]): Promise<Content[]> {
  const answers = await Promise.all(requests);
  return answers.map(({ status, json }) => {
    const { detail, ...rest } = json as { detail?: string };
    return {
      status,
      ...rest,
      detail: detail?.replace(/about \d+ s left/, 'about … s left'),
      requestId: undefined,
    };
  });
}
