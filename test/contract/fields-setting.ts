import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { mongo } from 'mongoose';
import { type Answer, send, type TestApplication, type TestService } from '../support/index.js';

/** The ways in which operators set the fields of the services of an application. */
export class FieldsSetting {
  private constructor(
    private readonly service: TestService,
    private readonly app: TestApplication,
    private readonly root: string,
  ) {}

  static async of(service: TestService, app: TestApplication): Promise<FieldsSetting> {
    return new FieldsSetting(service, app, await app.credential({ level: 'admin' }));
  }

  stored(name: string): Promise<mongo.Document | null> {
    const services = this.service.db.collection('services');
    return services.findOne({ ...this.app.tenant, name }, { projection: { _id: 0 } });
  }

  ask(method: string, path: string, body?: object, headers = {}): Promise<Answer> {
    const { organizationid, appid } = this.app;
    const url = `${this.service.url}/admin/v1/applications/${organizationid}/${appid}/${path}`;
    return send(url, method, { user: this.root, headers, ...(body && { body }) });
  }

  put(name: string, body: object, headers = {}): Promise<Answer> {
    return this.ask('PUT', `services/product/${name}`, body, headers);
  }

  /** The words of a command for the application. */
  words(command: string, ...more: string[]): string[] {
    const { organizationid, appid } = this.app;
    return [...command.split(' '), '--org', organizationid, '--app', appid, ...more];
  }

  set(name: string, ...more: string[]): string[] {
    return this.words('service set', '--kind', 'product', '--name', name, ...more);
  }

  /** A configuration file with these services. */
  async file(services: object[]): Promise<string> {
    const path = join(tmpdir(), `tidemark-fields-${this.app.appid}.json`);
    await writeFile(path, JSON.stringify(this.configuration(services), null, 1));
    return path;
  }

  /** The words of the command that applies a configuration with these services. */
  async apply(...services: object[]): Promise<string[]> {
    return this.words('config apply', await this.file(services), '--yes');
  }

  /** The answer to a configuration with one service. */
  applied(service: object): Promise<Answer> {
    const url = `${this.service.url}/admin/v1/configuration/apply`;
    return send(url, 'POST', { user: this.root, body: this.configuration([service]) });
  }

  private configuration(services: object[]): object {
    const { organizationid, appid } = this.app;
    const listed = services.map((one) => ({ kind: 'product', ...one }));
    return { applications: [{ organizationid, appid, services: listed }] };
  }
}
