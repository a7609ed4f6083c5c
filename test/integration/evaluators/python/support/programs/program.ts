/** The form in which hostile, odd and broken evaluators are listed. */
import { define } from '../sandbox.ts';

export type Program = {
  name: string;
  code: string;
  /** The score, or the possible error codes; or `ANYHOW`. */
  ends: number | readonly string[] | typeof ANYHOW;
  /** True for a program that a limit ends; the limits are low for it. */
  isSlow?: boolean;
};

/** Nobody can say what the program returns, since it reads memory that is not its own: only its sandbox must hold. */
export const ANYHOW = 'anyhow';

/** A refusal by the kernel or the importer. Its message must match `REFUSAL`, or the program only has a mistake in it. */
export const REFUSED = ['py_exception', 'py_crash'] as const;
export const REFUSAL =
  /^(?:PermissionError|ModuleNotFoundError|gaierror|itimer_error: .* not permitted|RuntimeError: can't start new thread|ValueError: not allowed to raise|OSError: .*(?:Permission denied|Inappropriate ioctl))|^The code made a system call that is never allowed/;

export function group(ends: Program['ends'], bodies: Record<string, string>, isSlow = false): Program[] {
  return Object.entries(bodies).map(([name, body]) => ({ name, code: define(body), ends, isSlow }));
}

export const sources = (ends: Program['ends'], codes: Record<string, string>): Program[] =>
  Object.entries(codes).map(([name, code]) => ({ name, code, ends }));

export const LIBC = 'import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n';
/** Code that raises when the call of a C function failed, and returns 1 when it succeeded. */
export const orRaise = (call: string) =>
  `${LIBC}if ${call} == -1: raise PermissionError(ctypes.get_errno(), "refused")\nreturn 1`;
