/** One child of the zygote, as the service sees it: locked down, it takes one job (or one batch) and ends. */
import type { Socket } from 'node:net';
import {
  type Answer,
  decodeAnswer,
  encodeFrame,
  type Job,
  LENGTH_BYTES,
  MAX_ANSWER_BYTES,
  type TextPair,
} from './frame.ts';
import type { PythonLimits } from './limits.ts';

/** How a child ended: one of `status` and `signal` is null. */
export type Exit = { status: number | null; signal: number | null; cpuMs: number };

export type Reply =
  | { kind: 'answer'; answer: Answer }
  /** The connection closed and nothing had come. */
  | { kind: 'silent' }
  /** Something else came than exactly one answer. */
  | { kind: 'garbage' }
  /** Nothing came in time. */
  | { kind: 'late' };

export type ChildLimits = Pick<PythonLimits, 'cpuSeconds' | 'memoryMb'>;

type Question = { isLast: boolean; settle(reply: Reply): void };

/** What the zygote does for a child. */
export type Keeper = {
  killChild(id: number): void;
  /** Ends all of its children, and itself. */
  kill(): void;
};

export class Child {
  readonly id: number;
  readonly limits: ChildLimits;
  /** Whether it came up and locked itself down. */
  readonly ready: Promise<boolean>;
  /** Null when the zygote died, who alone could have told. */
  readonly exited: Promise<Exit | null>;
  readonly #keeper: Keeper;
  #becomeReady!: (ready: boolean) => void;
  #exit!: (exit: Exit | null) => void;
  #hasExited = false;
  #socket: Socket | null = null;
  #received: Buffer = Buffer.alloc(0);
  #hasEnded = false;
  #question: Question | null = null;

  constructor(id: number, limits: ChildLimits, keeper: Keeper) {
    this.id = id;
    this.limits = limits;
    this.#keeper = keeper;
    this.ready = new Promise((resolve) => {
      this.#becomeReady = resolve;
    });
    this.exited = new Promise((resolve) => {
      this.#exit = resolve;
    });
  }

  /** Whether a job can be sent to it. */
  get isAlive(): boolean {
    return this.#socket !== null && !this.#hasExited && !this.#hasEnded;
  }

  /** It has connected and said its id, which it does once it is locked down. */
  connect(socket: Socket): void {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
      this.#look();
    });
    socket.once('end', () => this.#end());
    socket.once('close', () => this.#end());
    this.#becomeReady(true);
  }

  /** The zygote has told how it ended, or has died. */
  onExit(exit: Exit | null): void {
    this.#hasExited = true;
    this.#becomeReady(false);
    this.#exit(exit);
    // Nobody answers any more; what is on its way from a child that ended by itself still arrives.
    if (exit === null) this.#socket?.destroy();
  }

  /**
   * Sends a job, or the next record of a batch, and waits for its answer. After the last one the connection must
   * close: more than one answer is none.
   */
  ask(frame: Job | TextPair, options: { wallMs: number; isLast: boolean }): Promise<Reply> {
    return new Promise((resolve) => {
      // A busy event loop may get to the timer before it gets to an answer that has long arrived.
      const onDeadline = () => setImmediate(() => this.#settle({ kind: 'late' }));
      const timer = setTimeout(onDeadline, options.wallMs);
      this.#question = {
        isLast: options.isLast,
        settle: (reply) => {
          clearTimeout(timer);
          resolve(reply);
        },
      };
      this.#socket?.write(encodeFrame(frame));
      this.#look();
    });
  }

  /** Ends it, whatever it does. */
  kill(): void {
    if (!this.#hasExited) this.#keeper.killChild(this.id);
    this.#socket?.destroy();
  }

  /** Ends the zygote too: it did not end this child when it was told to, so it is stuck. */
  condemn(): void {
    this.#keeper.kill();
    this.#socket?.destroy();
  }

  #settle(reply: Reply): void {
    const question = this.#question;
    this.#question = null;
    question?.settle(reply);
  }

  #end(): void {
    this.#hasEnded = true;
    this.#look();
  }

  #look(): void {
    const received = this.#received;
    if (this.#question === null) {
      // Nobody asked: it is not to be trusted with a question.
      if (received.length > 0) this.#socket?.destroy();
      return;
    }
    const whole = received.length < LENGTH_BYTES ? null : LENGTH_BYTES + received.readUInt32BE(0);
    const isTooMuch = whole !== null && (whole > LENGTH_BYTES + MAX_ANSWER_BYTES || received.length > whole);
    if (isTooMuch) {
      this.#settle({ kind: 'garbage' });
    } else if (received.length === whole && (this.#hasEnded || !this.#question.isLast)) {
      this.#received = Buffer.alloc(0);
      const answer = decodeAnswer(received.subarray(LENGTH_BYTES));
      this.#settle(answer === null ? { kind: 'garbage' } : { kind: 'answer', answer });
    } else if (this.#hasEnded) {
      this.#settle({ kind: received.length === 0 ? 'silent' : 'garbage' });
    }
  }
}
