/** Pages of datasets and experiments. Fetched together: apart, what they share would be many small files. */

export { ExperimentPage } from './experiment/experiment.tsx';
export { ExperimentComparison } from './experiment-comparison/experiment-comparison.tsx';
export { Experiments } from './experiments/experiments.tsx';
