/** A child of the zygote, as the service sees it: it is locked down, takes one job (or one batch), and ends. */
import type { Socket } from 'node:net';
import { type ChildAnswer, decodeAnswer, LENGTH_BYTES, MAX_ANSWER_BYTES } from './frame.ts';
import type { PythonLimits } from './limits.ts';

/** The end of a child: one of `status` and `signal` is null. */
export type ChildExit = { status: number | null; signal: number | null; cpuMs: number };

/** The result of sending a frame to a child. */
export type ChildReply =
  | { kind: 'answer'; answer: ChildAnswer }
  /** The connection closed before any byte of an answer. */
  | { kind: 'closed' }
  /** The child sent something other than exactly one answer. */
  | { kind: 'malformed' }
  /** The child did not answer in time. */
  | { kind: 'timeout' };

/** The limits that the kernel enforces on a child; the service itself enforces `wallMs`. */
export type ChildLimits = Pick<PythonLimits, 'cpuSeconds' | 'memoryMb'>;

type PendingReply = { isLast: boolean; settle(reply: ChildReply): void };

/** The zygote, as its children use it. */
export type ChildOwner = {
  killChild(id: number): void;
  /** Kills the zygote and all its children. */
  kill(): void;
};

/** A child, from its fork to its end. */
export class Child {
  readonly id: number;
  readonly limits: ChildLimits;
  /** True when the child has started and locked itself down, false when it ended before that. */
  readonly ready: Promise<boolean>;
  /** The child's end; null when the zygote died, which alone could have reported it. */
  readonly exited: Promise<ChildExit | null>;
  readonly #owner: ChildOwner;
  #becomeReady!: (ready: boolean) => void;
  #exit!: (exit: ChildExit | null) => void;
  #hasExited = false;
  #socket: Socket | null = null;
  #received: Buffer = Buffer.alloc(0);
  #hasEnded = false;
  #pending: PendingReply | null = null;

  constructor(id: number, limits: ChildLimits, owner: ChildOwner) {
    this.id = id;
    this.limits = limits;
    this.#owner = owner;
    this.ready = new Promise((resolve) => {
      this.#becomeReady = resolve;
    });
    this.exited = new Promise((resolve) => {
      this.#exit = resolve;
    });
  }

  /** True while a job can be sent to the child. */
  get isAlive(): boolean {
    return this.#socket !== null && !this.#hasExited && !this.#hasEnded;
  }

  /** Takes the child's connection, on which it has sent its id: it does so once it is locked down. */
  connect(socket: Socket): void {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
      this.#readFrame();
    });
    socket.once('end', () => this.#end());
    socket.once('close', () => this.#end());
    this.#becomeReady(true);
  }

  /** Takes the end that the zygote reported; null when the zygote died. */
  onExit(exit: ChildExit | null): void {
    this.#hasExited = true;
    this.#becomeReady(false);
    this.#exit(exit);
    // With the zygote its children died. When a child ended by itself, bytes that it sent before still arrive.
    if (exit === null) this.#socket?.destroy();
  }

  /**
   * Sends a frame and waits for its answer. After the last answer the connection must close: a second answer makes the first
   * one malformed. An answer that asks for the record is never the last.
   */
  send(frame: Buffer, options: { wallMs: number; isLast: boolean }): Promise<ChildReply> {
    return new Promise((resolve) => {
      // A busy event loop may run the timer before it reads an answer that arrived long ago.
      const onDeadline = () => setImmediate(() => this.#settle({ kind: 'timeout' }));
      const timer = setTimeout(onDeadline, options.wallMs);
      this.#pending = {
        isLast: options.isLast,
        settle: (reply) => {
          clearTimeout(timer);
          resolve(reply);
        },
      };
      this.#socket?.write(frame);
      this.#readFrame();
    });
  }

  /** Kills the child. */
  kill(): void {
    if (!this.#hasExited) this.#owner.killChild(this.id);
    this.#socket?.destroy();
  }

  /** Kills the zygote too: it did not kill this child when it was told to, so it is stuck. */
  killZygote(): void {
    this.#owner.kill();
    this.#socket?.destroy();
  }

  #settle(reply: ChildReply): void {
    const pending = this.#pending;
    this.#pending = null;
    pending?.settle(reply);
  }

  #end(): void {
    this.#hasEnded = true;
    this.#readFrame();
  }

  #readFrame(): void {
    const received = this.#received;
    if (this.#pending === null) {
      // The child sent bytes before it was sent a job, so it cannot be trusted with one.
      if (received.length > 0) this.#socket?.destroy();
      return;
    }
    const whole = received.length < LENGTH_BYTES ? null : LENGTH_BYTES + received.readUInt32BE(0);
    const isTooMuch = whole !== null && (whole > LENGTH_BYTES + MAX_ANSWER_BYTES || received.length > whole);
    if (isTooMuch) {
      this.#settle({ kind: 'malformed' });
    } else if (received.length === whole) {
      const answer = decodeAnswer(received.subarray(LENGTH_BYTES));
      const isLast = this.#pending.isLast && !(answer?.kind === 'loaded' && answer.takesRecord);
      if (isLast && !this.#hasEnded) return;
      this.#received = Buffer.alloc(0);
      this.#settle(answer === null ? { kind: 'malformed' } : { kind: 'answer', answer });
    } else if (this.#hasEnded) {
      this.#settle({ kind: received.length === 0 ? 'closed' : 'malformed' });
    }
  }
}
