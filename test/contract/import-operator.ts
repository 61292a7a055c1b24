import type { mongo } from 'mongoose';
import type { Kind } from '../../src/kinds/index.js';
import type { Item, TestApplication, TestService } from '../support/index.js';
import { AdminConsole, type Said, type TypedInput } from './admin-console.js';

export interface Summary {
  lines: number;
  created: number;
  changed: number;
  unchanged: number;
  bad: number;
}

/** The summary of an import without a bad line. */
export const counts = (created: number, changed = 0, unchanged = 0): Summary => ({
  ...{ lines: created + changed + unchanged, created, changed, unchanged, bad: 0 },
});

/** An operator who imports into one application. */
export class ImportOperator {
  private readonly admin: AdminConsole;

  constructor(
    private readonly service: TestService,
    readonly app: TestApplication,
    uri = service.uri,
  ) {
    this.admin = new AdminConsole(uri);
  }

  /** Imports lines, given as objects or as they are; fails unless all went well. */
  load(lines: unknown[], kind: Kind = 'product'): Promise<Summary> {
    return this.admin.json(this.words(kind), { input: textOf(lines) });
  }

  /** The same, whatever comes of it. */
  try(lines: unknown[], kind: Kind = 'product', more = ''): Promise<Said> {
    return this.read({ input: textOf(lines) }, kind, more);
  }

  read(typed: TypedInput, kind: Kind = 'product', more = '', file = '-'): Promise<Said> {
    return this.admin.run(this.words(kind, more, file), typed);
  }

  /** The record as it is stored. */
  async stored(kind: Kind, id: string): Promise<Partial<Stored> | null> {
    return this.service.db.collection<Stored>(`${kind}s`).findOne({ ...this.app.tenant, id });
  }

  /** What the feed without a filter shows, by id. */
  async items(kind: Kind = 'product'): Promise<Record<string, Item>> {
    await this.service.watcher.caughtUp();
    const all = await this.app.feed(kind).drain();
    return Object.fromEntries(all.map((item) => [item.id, item]));
  }

  private words(kind: Kind, more = '', file = '-'): string {
    return `import --org ${this.app.organizationid} --app ${this.app.appid} --kind ${kind} ${more} ${file}`;
  }
}

interface Stored extends mongo.Document {
  id: string;
  lastupdated: Date;
}

function textOf(lines: unknown[]): string {
  return lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
}
