/** Metrics: buckets of time in a time zone, and the parts that each measure needs of the requests. Pure. */
export {
  expectedBy,
  isFlag,
  isFlagOfAll,
  type Measure,
  type Metric,
  type Part,
  partsOf,
  readMeasure,
} from './measures.ts';
export {
  autoUnit,
  bucketBegins,
  isTimeZone,
  mostBuckets,
  previousRange,
  type Range,
  type Unit,
} from './time-buckets.ts';
