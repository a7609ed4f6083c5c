import { AssayError } from '#core/contracts/errors.ts';
import type { Answer } from './answer.ts';
import type { IncomingBody } from './incoming-body.ts';

/** A request that has begun to be handled. */
export class Call {
  readonly body: IncomingBody;
  readonly answer: Answer;
  #hasLeft = false;
  #leaving: AbortController | null = null;

  constructor(body: IncomingBody, answer: Answer) {
    this.body = body;
    this.answer = answer;
  }

  /** Aborts when the client leaves before its response is through. Made when it is first asked for. */
  get signal(): AbortSignal {
    if (this.#leaving === null) {
      this.#leaving = new AbortController();
      if (this.#hasLeft) this.#leaving.abort(clientLeft());
    }
    return this.#leaving.signal;
  }

  leave(): void {
    const isAnswered = this.answer.isOver;
    this.#hasLeft = true;
    this.body.breakOff();
    this.answer.breakOff();
    if (!isAnswered) this.#leaving?.abort(clientLeft());
  }
}

function clientLeft(): AssayError {
  return new AssayError('client_closed_request', 'The client left before its response was complete');
}
