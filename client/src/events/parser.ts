/** An event of a stream of server-sent events. */
export interface StreamEvent {
  event: string;
  /** The last one that was sent, with this event or one before. */
  id: string;
  data: string;
}

/** Characters. The events of the service are far shorter: what is longer is none. */
const LONGEST_EVENT = 65_536;

/** Reads a stream of server-sent events, however it is cut into pieces (WHATWG HTML §9.2.6). */
export class EventParser {
  /** Milliseconds to wait before the stream is opened again, where the service has said so. */
  retryMs: number | undefined;
  private rest = '';
  private event = '';
  private id = '';
  private data: string[] = [];
  private length = 0;

  /** The events that are whole with this piece. Throws where a stream is none. */
  push(piece: string): StreamEvent[] {
    const lines = (this.rest + piece).split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop() ?? '';
    const events: StreamEvent[] = [];
    for (const line of lines) {
      if (line !== '') this.field(line);
      else events.push(...this.ended());
    }
    if (this.length + this.rest.length > LONGEST_EVENT) throw new RangeError('an event is too long');
    return events;
  }

  private ended(): StreamEvent[] {
    const { event, id, data } = this;
    this.event = '';
    this.data = [];
    this.length = 0;
    return data.length === 0 ? [] : [{ event: event || 'message', id, data: data.join('\n') }];
  }

  /** A comment is a field without a name. */
  private field(line: string): void {
    const [, name = '', value = ''] = /^([^:]*)(?:: ?)?(.*)$/s.exec(line) ?? [];
    if (name === 'event') this.event = value;
    else if (name === 'data') this.length += this.data.push(value) && value.length;
    else if (name === 'id' && !value.includes('\0')) this.id = value;
    else if (name === 'retry' && /^\d+$/.test(value)) this.retryMs = Number(value);
  }
}
