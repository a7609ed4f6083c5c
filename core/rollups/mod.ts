/** Roll-ups of requests: their families, histograms, and the plan of reading a range. */
export {
  dimensionsOf,
  FAMILIES_OF_CHANGE,
  FAMILY_NAMES,
  type FamilyName,
  GRAINS,
  type Grain,
  HISTOGRAM_LEVELS,
  HISTOGRAM_METRICS,
  LEVELS,
  type Level,
  MAX_PROPERTY_VALUE_LENGTH,
  MAX_PROPERTY_VALUES,
  MEASURED,
  ROLLUP_DIMENSIONS,
  type RollupDimension,
  SCORE_LEVELS,
  VALUE_MEASURED,
} from './families.ts';
export { addBins, type Histogram, quantilesOf, RELATIVE_ERROR } from './histogram.ts';
export { planSegments, type Segment, type StaleBuckets } from './segments.ts';
