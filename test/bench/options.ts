/** Options that several benchmarks have. */
import { Command, InvalidArgumentError } from 'commander';

/** Parses a count in an option. */
export function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It must be a positive whole number.');
  return Number(text);
}

/** Parses a positive number in an option. */
export function positiveNumber(text: string): number {
  const value = Number(text);
  if (!(value > 0 && Number.isFinite(value))) throw new InvalidArgumentError('It must be a positive number.');
  return value;
}

/** Options of benchmarks over a cluster that `npm run bench seed` has made. */
export type SeededOptions = {
  /** Absent: a new cluster, which goes with the benchmark. */
  dataDir?: string;
  requests: number;
  only: string;
  rounds: number;
  /** 0: none. */
  incoming: number;
};

/** Returns a command with these options. */
export function seededCommand(name: string, description: string, defaults: { rounds: number }): Command {
  return new Command(`bench ${name}`)
    .description(description)
    .option('--data-dir <directory>', 'of a cluster made by bench seed; default: a new one')
    .option('--requests <number>', 'requests of a new one', wholeNumber, 1_000_000)
    .option('--only <text>', 'cases whose name contains it', '')
    .option('--rounds <number>', 'calls of each case', wholeNumber, defaults.rounds)
    .option('--incoming <number>', 'requests a second that ingest stores meanwhile', Number, 0);
}
