/** `npm start -- experiments …` */
import { Command } from 'commander';

/** Runs a gate with these parameters, and returns its exit status. */
export type RunGate = (parameters: string[]) => Promise<number>;

/** `experiments gate`: the program that CI machines download, which reads its own parameters. */
export function experimentsCommand(runGate: RunGate): Command {
  const experiments = new Command('experiments').description('run experiments and hold them against rules');
  experiments
    .command('gate')
    .description('run an experiment and end with 0 if it meets its rules; --help lists the options')
    .helpOption(false)
    .allowUnknownOption()
    .argument('[parameters...]')
    .action(async (parameters: string[]) => {
      process.exitCode = await runGate(parameters);
    });
  return experiments;
}
