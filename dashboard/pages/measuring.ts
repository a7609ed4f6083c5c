/** Pages of datasets and experiments. Fetched together: apart, what they share would be many small files. */

export { ExperimentPage } from './experiment/experiment.tsx';
export { Experiments } from './experiments/experiments.tsx';
