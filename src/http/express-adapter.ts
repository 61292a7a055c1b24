import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import { ExpressAdapter } from '@nestjs/platform-express';
import express, { type Express, type Response } from 'express';
import { answerText } from './answer-text.js';

/**
 * Express changes the prototype of each request and each answer that comes by, after which V8 knows no more how they are
 * laid out: that costs more than all the rest of Express. Here they are made with the prototypes that Express wants.
 */
export class ReadyExpressAdapter extends ExpressAdapter {
  constructor() {
    super(express());
  }

  override initHttpServer(): void {
    const app = this.getInstance<Express>();
    class ReadyRequest extends IncomingMessage {}
    class ReadyResponse extends ServerResponse {}
    app.request = Object.setPrototypeOf(ReadyRequest.prototype, app.request) as Express['request'];
    app.response = Object.setPrototypeOf(ReadyResponse.prototype, app.response) as Express['response'];
    app.response.json = json;
    const classes = { IncomingMessage: ReadyRequest, ServerResponse: ReadyResponse };
    this.httpServer = createServer(classes, app);
  }
}

/** As Express does it, but for the line break at the end. */
function json(this: Response, value: unknown): Response {
  if (this.get('Content-Type') === undefined) this.type('json');
  return this.send(answerText(value));
}
