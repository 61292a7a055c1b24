/** One HTTP/1.1 connection, one request at a time: as little client as can be, since it shares the machine. */
import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { connect } from 'node:net';

const HEAD_END = Buffer.from('\r\n\r\n');
const LINE_END = Buffer.from('\r\n');
/** Where the status stands in `HTTP/1.1 200 OK`. */
const STATUS_BEGIN = 9;
const STATUS_END = 12;

export class Connection {
  constructor({ host, port, authorization }) {
    this.place = { host, port };
    const login = authorization === undefined ? '' : `Authorization: ${authorization}\r\n`;
    this.head = `Host: ${host}:${port}\r\n${login}`;
  }

  /** `{ status, retryAfter, body: Buffer }`; `headers` are further lines. Throws where the connection breaks before the answer is whole. */
  async request({ method = 'GET', path, body, type = 'application/json', headers = '' }) {
    const socket = await this.open();
    const text = body === undefined ? '' : JSON.stringify(body);
    const about =
      body === undefined ? '' : `Content-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(text)}\r\n`;
    socket.write(`${method} ${path} HTTP/1.1\r\n${this.head}${headers}${about}\r\n${text}`);
    const answer = await new Answer(socket).whole();
    if (answer.isLast) this.close();
    return answer;
  }

  /** Sends a request for a page and reads nothing but the status, as soon as the answer begins. */
  async hold(path) {
    const socket = await this.open();
    socket.write(`GET ${path} HTTP/1.1\r\n${this.head}\r\n`);
    await once(socket, 'readable');
    return Number(socket.read(STATUS_END).toString('latin1', STATUS_BEGIN));
  }

  close() {
    this.socket?.destroy();
    this.socket = undefined;
  }

  async open() {
    if (this.socket !== undefined && !this.socket.destroyed && !this.socket.readableEnded) return this.socket;
    const socket = connect({ ...this.place, noDelay: true });
    await once(socket, 'connect');
    socket.on('error', () => undefined);
    this.socket = socket;
    return socket;
  }
}

/** Reads one answer off a socket: by its length, in chunks, or up to the end of the connection. */
class Answer {
  pieces = [];
  bytes = 0;
  body = [];

  constructor(socket) {
    this.socket = socket;
  }

  whole() {
    return new Promise((resolve, reject) => {
      const onData = (piece) => {
        this.pieces.push(piece);
        this.bytes += piece.length;
        if (this.isComplete()) finish();
      };
      const onEnd = () => (this.endsWithConnection ? finish() : fail());
      const off = () => this.socket.off('data', onData).off('end', onEnd).off('close', fail).pause();
      const finish = () => {
        off();
        const { status, isLast, retryAfter } = this;
        resolve({ status, isLast, retryAfter, body: this.taken() });
      };
      const fail = () => {
        off();
        reject(new Error('the connection broke off'));
      };
      this.socket.on('data', onData).on('end', onEnd).on('close', fail).resume();
    });
  }

  isComplete() {
    if (this.status === undefined && !this.readHead()) return false;
    if (this.isChunked) return this.readChunks();
    return this.length !== undefined && this.bytes >= this.length;
  }

  readHead() {
    const start = this.joined();
    const end = start.indexOf(HEAD_END);
    if (end < 0) return false;
    const head = start.toString('latin1', 0, end).toLowerCase();
    const length = /^content-length: *(\d+)/m.exec(head)?.[1];
    this.status = Number(head.slice(STATUS_BEGIN, STATUS_END));
    this.retryAfter = Number(/^retry-after: *(\d+)/m.exec(head)?.[1] ?? 0);
    this.isChunked = /^transfer-encoding: *chunked/m.test(head);
    this.isLast = /^connection: *close/m.test(head) || head.startsWith('http/1.0');
    this.length = length === undefined ? undefined : Number(length);
    this.endsWithConnection = this.length === undefined && !this.isChunked;
    this.keep(start.subarray(end + HEAD_END.length));
    return true;
  }

  /** Takes every chunk that is whole; true behind the last one. */
  readChunks() {
    if (this.bytes < (this.needed ?? 0)) return false;
    let rest = this.joined();
    for (;;) {
      const lineEnd = rest.indexOf(LINE_END);
      const size = lineEnd < 0 ? undefined : parseInt(rest.toString('latin1', 0, lineEnd), 16);
      const end = size === undefined ? rest.length + 1 : lineEnd + size + 2 * LINE_END.length;
      if (rest.length < end) {
        this.needed = end;
        this.keep(rest);
        return false;
      }
      if (size === 0) return true;
      this.body.push(rest.subarray(lineEnd + LINE_END.length, end - LINE_END.length));
      rest = rest.subarray(end);
    }
  }

  taken() {
    return this.isChunked ? Buffer.concat(this.body) : this.joined();
  }

  joined() {
    if (this.pieces.length !== 1) this.pieces = [Buffer.concat(this.pieces)];
    return this.pieces[0];
  }

  keep(rest) {
    this.pieces = [rest];
    this.bytes = rest.length;
  }
}
