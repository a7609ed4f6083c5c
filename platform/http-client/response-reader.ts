/**
 * Reads one HTTP/1.1 response out of the bytes of a connection, in pieces of any size. Interim responses (1xx) are passed
 * over, up to a bound.
 */
import { ChunkedReader, NotHttp } from '../http-server/mod.ts';
import { checkBeginning, parseResponseHead, type ResponseHead } from './response-head.ts';

export type ReaderCallbacks = {
  onHead(head: ResponseHead): void;
  /** Never empty. */
  onBytes(bytes: Buffer): void;
};

const END_OF_HEAD = Buffer.from('\r\n\r\n');
/** Providers send some 2 KB; with cookies and tracing up to 8. With the heads of all interim responses before it. */
const MAX_HEAD_BYTES = 64 * 1024;
/** Providers send one at most; a proxy on the way may say 102 (Processing) every few seconds while a model thinks. */
const MAX_INTERIM_RESPONSES = 100;
const SWITCHING_PROTOCOLS = 101;

export class ResponseReader {
  readonly #callbacks: ReaderCallbacks;
  /** The beginning of a head whose end has not come. */
  #pending: Buffer | null = null;
  #interimResponses = 0;
  #interimBytes = 0;
  #head: ResponseHead | null = null;
  /** Of a body whose length is known. */
  #bytesLeft = 0;
  #chunked: ChunkedReader | null = null;
  #isWhole = false;

  constructor(callbacks: ReaderCallbacks) {
    this.#callbacks = callbacks;
  }

  /** Null until it has come. */
  get head(): ResponseHead | null {
    return this.#head;
  }

  get isWhole(): boolean {
    return this.#isWhole;
  }

  /**
   * Reads on, and returns how far it came: to the end of `piece`, or of the response within it.
   * @throws NotHttp
   */
  push(piece: Buffer): number {
    if (this.#head !== null) return this.#readBody(this.#head, piece, 0);
    const bytes = this.#pending === null ? piece : Buffer.concat([this.#pending, piece]);
    const before = this.#pending?.length ?? 0;
    const at = this.#readHeads(bytes, Math.max(0, before - END_OF_HEAD.length));
    return (this.#head === null ? at : this.#readBody(this.#head, bytes, at)) - before;
  }

  /** The connection has ended: whether that was the end of the response. */
  close(): boolean {
    if (this.#head?.framing === 'until close') this.#isWhole = true;
    return this.#isWhole;
  }

  #readHeads(bytes: Buffer, searchFrom: number): number {
    let from = 0;
    let search = searchFrom;
    while (this.#head === null) {
      const end = bytes.indexOf(END_OF_HEAD, search);
      const headBytes = (end < 0 ? bytes.length : end) - from;
      if (this.#interimBytes + headBytes > MAX_HEAD_BYTES)
        throw new NotHttp(`its head is larger than ${MAX_HEAD_BYTES} bytes`);
      if (end < 0) {
        checkBeginning(bytes, from, search);
        this.#pending = from === 0 ? bytes : bytes.subarray(from);
        return bytes.length;
      }
      const head = parseResponseHead(bytes.toString('latin1', from, end));
      from = end + END_OF_HEAD.length;
      search = from;
      if (head.status < 200) this.#passOver(head, headBytes + END_OF_HEAD.length);
      else this.#takeHead(head);
    }
    this.#pending = null;
    return from;
  }

  #passOver({ status }: ResponseHead, bytes: number): void {
    if (status === SWITCHING_PROTOCOLS) throw new NotHttp('it switches to another protocol');
    this.#interimResponses += 1;
    this.#interimBytes += bytes;
    if (this.#interimResponses > MAX_INTERIM_RESPONSES)
      throw new NotHttp(`it has more than ${MAX_INTERIM_RESPONSES} interim responses (1xx)`);
  }

  #takeHead(head: ResponseHead): void {
    this.#head = head;
    if (head.framing === 'chunked')
      this.#chunked = new ChunkedReader((bytes) => this.#callbacks.onBytes(bytes));
    else if (head.framing !== 'until close') this.#bytesLeft = head.framing;
    this.#isWhole = head.framing === 0;
    this.#callbacks.onHead(head);
  }

  #readBody({ framing }: ResponseHead, bytes: Buffer, from: number): number {
    if (this.#chunked !== null) {
      const at = this.#chunked.push(bytes, from);
      this.#isWhole = this.#chunked.isWhole;
      return at;
    }
    const to = framing === 'until close' ? bytes.length : Math.min(bytes.length, from + this.#bytesLeft);
    if (framing !== 'until close') {
      this.#bytesLeft -= to - from;
      this.#isWhole = this.#bytesLeft === 0;
    }
    if (to > from)
      this.#callbacks.onBytes(from === 0 && to === bytes.length ? bytes : bytes.subarray(from, to));
    return to;
  }
}
