/** The progress of a run: one line that changes in a terminal, else a line every ten seconds. */
import { clearLine, cursorTo } from 'node:readline';
import type { Progress } from './run.ts';

const LINE_EVERY_MS = 10_000;

function clockTime(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

/** One line. */
function formatProgress(progress: Progress, minutes: number): string {
  const { phase, elapsedMs, answered, stored, faults, active } = progress;
  const now = active.map(({ kind, target }) => `${kind} ${target}`).join(', ');
  const doing = phase === 'load' ? now || 'all well' : { drain: 'draining', compare: 'comparing' }[phase];
  const [all, kept] = [answered, stored].map((count) => count.toLocaleString('en'));
  return `${clockTime(elapsedMs)} of ${clockTime(minutes * 60_000)}  answered ${all}  stored ${kept}  faults ${faults}  ${doing}`;
}

/** Shows progress on stderr. */
export class ProgressLine {
  readonly #minutes: number;
  #nextLineMs = 0;

  constructor(minutes: number) {
    this.#minutes = minutes;
  }

  show(progress: Progress): void {
    const line = formatProgress(progress, this.#minutes);
    const { stderr } = process;
    if (stderr.isTTY) {
      cursorTo(stderr, 0);
      stderr.write(line.slice(0, stderr.columns - 1));
      clearLine(stderr, 1);
    } else if (progress.elapsedMs >= this.#nextLineMs) {
      this.#nextLineMs = progress.elapsedMs + LINE_EVERY_MS;
      stderr.write(`${line}\n`);
    }
  }

  /** Takes the line away. */
  end(): void {
    if (!process.stderr.isTTY) return;
    cursorTo(process.stderr, 0);
    clearLine(process.stderr, 1);
  }
}
