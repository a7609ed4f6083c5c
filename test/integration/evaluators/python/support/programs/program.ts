/** How a hostile, odd or broken evaluator is written down. */
import { define } from '../sandbox.ts';

export type Program = {
  name: string;
  code: string;
  /** The score, or one of these codes. */
  ends: number | readonly string[];
  /** Ends by a limit, which is set low for it. */
  isSlow?: boolean;
};

/** By the kernel or the importer, in the words of `REFUSAL`: a program with a mistake in it has not been refused. */
export const REFUSED = ['py_exception', 'py_crash'] as const;
export const REFUSAL =
  /^(?:PermissionError|ModuleNotFoundError|gaierror|itimer_error: .* not permitted|RuntimeError: can't start new thread|ValueError: not allowed to raise|OSError: .*(?:Permission denied|Inappropriate ioctl))|^The code made a system call that is never allowed/;

export function group(ends: Program['ends'], bodies: Record<string, string>, isSlow = false): Program[] {
  return Object.entries(bodies).map(([name, body]) => ({ name, code: define(body), ends, isSlow }));
}

export const sources = (ends: Program['ends'], codes: Record<string, string>): Program[] =>
  Object.entries(codes).map(([name, code]) => ({ name, code, ends }));

export const LIBC = 'import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n';
/** Raises when a C function did, and returns 1 when it did not. */
export const orRaise = (call: string) =>
  `${LIBC}if ${call} == -1: raise PermissionError(ctypes.get_errno(), "refused")\nreturn 1`;
