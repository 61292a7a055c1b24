/** A contestant's program at work: where it is, what it costs, and connections to it. */
import { basic } from './login.mjs';
import { Connection } from './connection.mjs';
import { cpuOf } from './cpu.mjs';
import { HOST } from './ports.mjs';
import { until } from './until.mjs';

export class Server {
  constructor(process, { port, username, password }) {
    this.process = process;
    this.port = port;
    this.authorization = basic(username, password);
  }

  /** Waits until a path answers 200; throws where the program ends before. */
  async ready(path, within = 60_000) {
    const isUp = async () => {
      this.process.assertRuns();
      return this.get(path).then(
        ({ status }) => status === 200,
        () => false,
      );
    };
    await until(isUp, { within, what: path });
  }

  /** With the login of the bench, another one, or none at all. */
  connection(authorization = this.authorization) {
    return new Connection({ host: HOST, port: this.port, authorization: authorization ?? undefined });
  }

  /** One request on a connection of its own. */
  async get(path) {
    const connection = this.connection();
    try {
      return await connection.request({ path });
    } finally {
      connection.close();
    }
  }

  /** Microseconds so far. */
  cpu() {
    return cpuOf(this.process.pid);
  }

  stop() {
    return this.process.stop();
  }
}
