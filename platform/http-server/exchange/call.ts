import type { Answer } from './answer.ts';
import type { IncomingBody } from './incoming-body.ts';
import type { Client } from './request.ts';

/** A request that has begun to be handled. */
export class Call implements Client {
  readonly body: IncomingBody;
  readonly answer: Answer;
  #hasLeft = false;
  #hearLeave: (() => void)[] = [];

  constructor(body: IncomingBody, answer: Answer) {
    this.body = body;
    this.answer = answer;
  }

  get hasLeft(): boolean {
    return this.#hasLeft;
  }

  get isBeingAnswered(): boolean {
    return this.answer.hasBegun;
  }

  onLeave(hear: () => void): () => void {
    this.#hearLeave.push(hear);
    return () => {
      this.#hearLeave = this.#hearLeave.filter((other) => other !== hear);
    };
  }

  leave(): void {
    const isAnswered = this.answer.isOver;
    this.#hasLeft = true;
    this.body.breakOff();
    this.answer.breakOff();
    const all = this.#hearLeave;
    this.#hearLeave = [];
    if (!isAnswered) for (const hear of all) hear();
  }
}
