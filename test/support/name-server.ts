import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';

const TYPES = { A: 1, TXT: 16, SRV: 33 } as const;
type RecordType = keyof typeof TYPES;

const HEADER = 12;
/** A response without recursion, and that with RCODE 3: no such name. */
const ANSWERED = 0x8400;
const NO_SUCH_NAME = 0x8403;
const IN = 1;

/** A DNS server on 127.0.0.1 with records of its own; every other name is unknown to it. */
export class NameServer {
  /** By type and name, such as `SRV _mongodb._tcp.db.example.test`. */
  private readonly records = new Map<string, Buffer[]>();

  private constructor(private readonly socket: Socket) {
    socket.on('message', (query, { port, address }) => socket.send(this.answer(query), port, address));
  }

  static async start(): Promise<NameServer> {
    const socket = createSocket('udp4').bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return new NameServer(socket);
  }

  /** Such as `127.0.0.1:53`. */
  get address(): string {
    const { address, port } = this.socket.address();
    return `${address}:${port}`;
  }

  /** The servers of a MongoDB under a name, at a port of 127.0.0.1, as `mongodb+srv` looks for them. */
  tellOfDatabase(name: string, port: number, options?: string): void {
    const host = `node.${name.slice(name.indexOf('.') + 1)}`;
    this.tellOfHosts(name, [host], port, options === undefined ? [] : [options]);
  }

  /** The same of any number of hosts and TXT records. */
  tellOfHosts(name: string, hosts: string[], port: number, options: string[] = []): void {
    const led = hosts.map((host) => Buffer.concat([numbers(0, 0, port), labels(host)]));
    this.records.set(`SRV _mongodb._tcp.${name}`, led);
    for (const host of hosts) this.records.set(`A ${host}`, [Buffer.from([127, 0, 0, 1])]);
    this.records.set(`TXT ${name}`, options.map(text));
  }

  async stop(): Promise<void> {
    this.socket.close();
    await once(this.socket, 'close');
  }

  private answer(query: Buffer): Buffer {
    const { name, type, end } = questionIn(query);
    const answers = this.records.get(`${type} ${name}`) ?? [];
    const isKnown = Object.keys(TYPES).some((one) => this.records.has(`${one} ${name}`));
    const flags = isKnown ? ANSWERED : NO_SUCH_NAME;
    const head = Buffer.concat([query.subarray(0, 2), numbers(flags, 1, answers.length, 0, 0)]);
    const question = query.subarray(HEADER, end);
    // The name of an answer is that of the question, a lifetime of 0 s, and the data behind its length.
    const about = ({ length }: Buffer) =>
      numbers(0xc000 | HEADER, TYPES[type as RecordType], IN, 0, 0, length);
    return Buffer.concat([head, question, ...answers.flatMap((data) => [about(data), data])]);
  }
}

function questionIn(query: Buffer): { name: string; type: string | undefined; end: number } {
  const names: string[] = [];
  let at = HEADER;
  for (let length = query[at]!; length > 0; length = query[at]!) {
    names.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const wanted = query.readUInt16BE(at + 1);
  const [type] = Object.entries(TYPES).find(([, number]) => number === wanted) ?? [];
  return { name: names.join('.').toLowerCase(), type, end: at + 5 };
}

function numbers(...values: number[]): Buffer {
  const buffer = Buffer.alloc(2 * values.length);
  values.forEach((value, index) => buffer.writeUInt16BE(value, 2 * index));
  return buffer;
}

function labels(name: string): Buffer {
  return Buffer.concat([...name.split('.').map(text), Buffer.from([0])]);
}

/** Its length in one byte, and the text. */
function text(value: string): Buffer {
  return Buffer.concat([Buffer.from([value.length]), Buffer.from(value, 'latin1')]);
}
