/** The least that a client of MongoDB can be: commands over one socket (OP_MSG), replies left as they come. */
import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { connect } from 'node:net';
import mongoose from 'mongoose';
import { HOST } from './machine/ports.mjs';

const { BSON } = mongoose.mongo;

const OP_MSG = 2013;
/** Length, request id, id answered to, operation, flags, kind of the one section. */
const HEAD_BYTES = 21;

export class RawClient {
  constructor(port) {
    this.port = port;
    this.next = 1;
  }

  async open() {
    this.socket = connect({ host: HOST, port: this.port, noDelay: true });
    await once(this.socket, 'connect');
    return this;
  }

  /** The first batch of a `find`, each document as its bytes. Throws what the server says where it refuses. */
  async firstBatch(command) {
    const reply = await this.command(command);
    const { ok, errmsg, cursor } = BSON.deserialize(reply, { fieldsAsRaw: { firstBatch: true } });
    if (ok !== 1) throw new Error(errmsg);
    return cursor.firstBatch;
  }

  close() {
    this.socket.destroy();
  }

  async command(document) {
    const body = BSON.serialize(document);
    const head = Buffer.alloc(HEAD_BYTES);
    head.writeInt32LE(HEAD_BYTES + body.length, 0);
    head.writeInt32LE(this.next++, 4);
    head.writeInt32LE(OP_MSG, 12);
    this.socket.write(head);
    this.socket.write(body);
    return this.reply();
  }

  /** The document of the reply; nothing else is on the way, since one command is asked at a time. */
  async reply() {
    const pieces = [];
    let bytes = 0;
    for (let wanted = HEAD_BYTES; bytes < wanted;) {
      const piece = this.socket.read();
      if (piece === null) {
        await once(this.socket, 'readable');
        continue;
      }
      pieces.push(piece);
      bytes += piece.length;
      if (wanted === HEAD_BYTES && bytes >= HEAD_BYTES) wanted = Buffer.concat(pieces).readInt32LE(0);
    }
    return Buffer.concat(pieces).subarray(HEAD_BYTES);
  }
}
