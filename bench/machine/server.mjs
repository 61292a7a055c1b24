/** A contestant's program at work: where it is, what it costs, and connections to it. */
import { Buffer } from 'node:buffer';
import { Connection } from './connection.mjs';
import { cpuOf } from './cpu.mjs';
import { HOST } from './ports.mjs';
import { until } from './until.mjs';

export class Server {
  constructor(process, { port, username, password }) {
    this.process = process;
    this.port = port;
    this.authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
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

  connection() {
    return new Connection({ host: HOST, port: this.port, authorization: this.authorization });
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
