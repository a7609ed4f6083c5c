/**
 * The system calls of x86-64 that a child may make, with their numbers in asm/unistd_64.h. The list is repeated here so that a
 * call that is allowed by mistake is noticed. Calls in `deadly` kill the child.
 */
export const CALLS = {
  allowed: [
    0, // read
    1, // write
    3, // close
    5, // fstat
    7, // poll
    8, // lseek
    9, // mmap, not executable
    10, // mprotect, not executable
    11, // munmap
    12, // brk
    13, // rt_sigaction
    14, // rt_sigprocmask
    15, // rt_sigreturn
    17, // pread64
    19, // readv
    20, // writev
    23, // select
    24, // sched_yield
    25, // mremap
    28, // madvise
    32, // dup
    35, // nanosleep
    39, // getpid
    60, // exit
    79, // getcwd
    96, // gettimeofday
    98, // getrusage
    100, // times
    102, // getuid
    104, // getgid
    107, // geteuid
    108, // getegid
    110, // getppid
    131, // sigaltstack
    186, // gettid
    202, // futex, to wait and to wake
    219, // restart_syscall
    228, // clock_gettime
    229, // clock_getres
    230, // clock_nanosleep
    231, // exit_group
    270, // pselect6
    271, // ppoll
    318, // getrandom
  ],
  /** uretprobe and uprobe: seccomp never filters them, and they do nothing outside a probe's own trampoline. */
  beyondFilters: [335, 336],
  deadly: [101, 298, 310, 311, 321], // ptrace, perf_event_open, process_vm_readv, process_vm_writev, bpf
} as const;
