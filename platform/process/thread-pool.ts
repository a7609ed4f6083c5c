import { ArrayTaskQueue, Piscina } from 'piscina';
import { AssayError } from '#core/contracts/errors.ts';

export type ThreadPoolOptions = Omit<
  ConstructorParameters<typeof Piscina>[0] & object,
  'filename' | 'resourceLimits'
> & {
  /**
   * The module whose functions the tasks name. Omitted where tasks name it themselves: a pool restarts a thread whose module
   * cannot be loaded again and again, while a task that names such a module fails.
   */
  module?: URL;
  /** The heap of one thread. A task that needs more ends its thread and fails; the process goes on. */
  threadMemoryMb: number;
};

/**
 * Creates a pool of worker threads that outlives the death of any of them. A task for which no thread can be started, as where
 * the limit of processes is reached, is rejected with AssayError bodies_busy, whose cause is the system's error.
 */
export function createThreadPool<Task, Result>({
  module,
  threadMemoryMb,
  ...options
}: ThreadPoolOptions): Piscina<Task, Result> {
  const taskQueue = new ArrayTaskQueue();
  const pool = new Piscina<Task, Result>({
    ...options,
    taskQueue,
    ...(module === undefined ? {} : { filename: module.href }),
    resourceLimits: { maxOldGenerationSizeMb: threadMemoryMb },
  });
  // A thread that dies while idle, or before it could start, has no task that could fail with it, and an 'error' event
  // without a listener would end the process.
  pool.on('error', () => {});
  const run = pool.run.bind(pool);
  pool.run = (task, runOptions) => {
    const waiting = taskQueue.size;
    try {
      return run(task, runOptions);
    } catch (cause) {
      // piscina leaves the task in its queue: its body would stay in memory, and be worked on for nobody later.
      if (taskQueue.size > waiting) taskQueue.remove(taskQueue.tasks.at(-1)!);
      return Promise.reject(noThread(cause));
    }
  };
  return pool;
}

function noThread(cause: unknown): AssayError {
  return new AssayError(
    'bodies_busy',
    'No thread can be started for a large body: the machine, the container or the user (ulimit -u) has none left; try again',
    { cause },
  );
}
