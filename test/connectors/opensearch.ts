import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { HOME } from './program.js';

const RUN = 'import os, osmem_server; server = osmem_server.resolve_binary(); os.execv(server, [server])';
const PAGE = 10_000;

/** A server in memory that understands OpenSearch; it ends with the test. */
export class OpenSearch {
  private constructor(
    private readonly child: ChildProcessByStdio<Writable, Readable, null>,
    readonly url: string,
  ) {}

  static async start(): Promise<OpenSearch> {
    const python = join(HOME, 'opensearch', 'bin', 'python');
    const child = spawn(python, ['-c', RUN], { stdio: ['pipe', 'pipe', 'inherit'] });
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
    return new OpenSearch(child, (JSON.parse(line) as { url: string }).url);
  }

  /** All documents of an index. */
  async documents<T>(index: string): Promise<T[]> {
    const found: T[] = [];
    for (let after: unknown[] | undefined; ;) {
      const body = { size: PAGE, sort: [{ 'id.keyword': 'asc' }], ...(after && { search_after: after }) };
      const { hits } = await this.ask(`${index}/_search`, body);
      found.push(...hits.hits.map(({ _source }) => _source as T));
      if (hits.hits.length < PAGE) return found;
      after = hits.hits.at(-1)!.sort;
    }
  }

  async stop(): Promise<void> {
    this.child.kill();
    await once(this.child, 'close');
  }

  private async ask(
    path: string,
    body: object,
  ): Promise<{ hits: { hits: { _source: unknown; sort: unknown[] }[] } }> {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${this.url}/${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(await answer.text());
    return (await answer.json()) as { hits: { hits: { _source: unknown; sort: unknown[] }[] } };
  }
}
