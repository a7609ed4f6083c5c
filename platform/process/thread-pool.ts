import { Piscina } from 'piscina';

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

/** Creates a pool of worker threads that outlives the death of any of them. */
export function createThreadPool<Task, Result>({
  module,
  threadMemoryMb,
  ...options
}: ThreadPoolOptions): Piscina<Task, Result> {
  const pool = new Piscina<Task, Result>({
    ...options,
    ...(module === undefined ? {} : { filename: module.href }),
    resourceLimits: { maxOldGenerationSizeMb: threadMemoryMb },
  });
  // A thread that dies while idle, or before it could start, has no task that could fail with it, and an 'error' event
  // without a listener would end the process.
  pool.on('error', () => {});
  return pool;
}
