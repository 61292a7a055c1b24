import { SETTINGS } from '../../src/config/index.js';
import type { Answer, TestService } from '../support/index.js';

const FOR_EVER_MS = 3_600_000;

/** What requests get where what the instance knows counts whatever its age, and where nothing is known. */
export class KnownAndRead {
  private readonly settings: { knowledgeMs: number };

  constructor(service: TestService) {
    this.settings = service.app.get<{ knowledgeMs: number }>(SETTINGS, { strict: false });
    this.settings.knowledgeMs = FOR_EVER_MS;
  }

  async ask(requests: () => Promise<Answer>[]): Promise<{ known: unknown[]; read: unknown[] }> {
    const known = await contentsOf(requests());
    this.settings.knowledgeMs = 0;
    try {
      return { known, read: await contentsOf(requests()) };
    } finally {
      this.settings.knowledgeMs = FOR_EVER_MS;
    }
  }
}

/** All that does not differ from one request to the next. */
async function contentsOf(requests: Promise<Answer>[]): Promise<unknown[]> {
  const answers = await Promise.all(requests);
  return answers.map(({ status, json }) => ({ status, ...(json as object), requestId: undefined }));
}
