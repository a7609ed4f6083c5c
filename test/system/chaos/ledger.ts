/** What the clients of a run saw: one note for each call, kept in memory and, for whoever looks into a loss, in a file. */
import { appendFileSync } from 'node:fs';

/**
 * How a call ended for its client. `answered`: it has the whole answer, a body of its full length or a stream with its
 * `[DONE]`. `refused`: it has a whole answer, but the server's own, which is no. `left`: it hung up in the middle.
 * `lost`: the connection ended before the answer did, or could not be made.
 */
export type CallEnd = 'answered' | 'refused' | 'left' | 'lost';

export type CallNote = {
  /** Its number, which its record and, of a gateway's call, the provider know as well. */
  call: number;
  /** The process that it was sent to. */
  server: string;
  /** Which life of that process. */
  life: number;
  isStream: boolean;
  /** Milliseconds since the run's beginning, as are all times here. */
  startedMs: number;
  endedMs: number;
  end: CallEnd;
  status: number | null;
  requestId: string | null;
  /** False when the answer said `service-logged: false`. */
  isLogged: boolean;
  requestDigest: string;
  /** Of the text that was answered; null when there was none or not all of it. */
  answerDigest: string | null;
  /** Why it was not answered, or what is wrong with the answer. */
  why: string | null;
};

const WRITTEN_TOGETHER = 256;

export class Ledger {
  readonly notes: CallNote[] = [];
  readonly counts: Record<CallEnd, number> = { answered: 0, refused: 0, left: 0, lost: 0 };
  readonly #path: string;
  #unwritten: CallNote[] = [];

  /** @param path of the file that notes are appended to, each a line of JSON */
  constructor(path: string) {
    this.#path = path;
  }

  add(note: CallNote): void {
    this.notes.push(note);
    this.counts[note.end] += 1;
    this.#unwritten.push(note);
    if (this.#unwritten.length >= WRITTEN_TOGETHER) this.flush();
  }

  /** Writes what is not in the file yet. */
  flush(): void {
    appendFileSync(this.#path, this.#unwritten.map((note) => `${JSON.stringify(note)}\n`).join(''));
    this.#unwritten = [];
  }
}
