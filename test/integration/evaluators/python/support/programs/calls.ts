/** Programs that make system calls directly. */
import { define } from '../sandbox.ts';
import { CALLS } from '../system-calls.ts';
import { LIBC, type Program } from './program.ts';

/** A program that tries every call outside a short list, one by one in one process. */
export const everyCall: Program[] =
  process.arch !== 'x64'
    ? []
    : [
        {
          name: 'every system call that is not needed',
          code: `${LIBC}def evaluate(input, output):
    for number in range(0, 470):
        if number in ${JSON.stringify([...CALLS.allowed, ...CALLS.deadly, ...CALLS.beyondFilters])}: continue
        ctypes.set_errno(0)
        result = libc.syscall(number, 0, 0, 0, 0, 0, 0)
        if result != -1 or ctypes.get_errno() not in (1, 13, 25, 38):
            raise RuntimeError(f'call {number} returned {result} with {ctypes.get_errno()}')
    return 0.75
`,
          ends: 0.75,
        },
        ...CALLS.deadly.map(
          (number): Program => ({
            name: `the deadly call ${number}`,
            code: define(`${LIBC}return libc.syscall(${number}, 0, 0, 0, 0, 0, 0)`),
            ends: ['py_crash'],
          }),
        ),
      ];
