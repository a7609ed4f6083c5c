/** Pages of datasets and experiments. Fetched together: apart, what they share would be many small files. */

export { DatasetPage } from './dataset/dataset.tsx';
export { Datasets } from './datasets/datasets.tsx';
export { ExperimentPage } from './experiment/experiment.tsx';
export { ExperimentComparison } from './experiment-comparison/experiment-comparison.tsx';
export { Experiments } from './experiments/experiments.tsx';
