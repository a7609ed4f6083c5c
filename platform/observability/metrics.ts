import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** The metrics of one process. Names get the prefix `assay_`; counters should end in `_total`, times in `_seconds`. */
export type Metrics = {
  registry: Registry;
  counter<L extends string = never>(name: string, help: string, labels?: readonly L[]): Counter<L>;
  gauge<L extends string = never>(name: string, help: string, labels?: readonly L[]): Gauge<L>;
  /** Registers a counter that is kept elsewhere, and read when metrics are scraped. */
  countedElsewhere(name: string, help: string, read: () => number): void;
  /** Registers a gauge that is read when metrics are scraped. */
  readOnDemand(name: string, help: string, read: () => number): void;
  /** Registers a histogram. `buckets` are upper bounds in the metric's unit; the default suits seconds. */
  histogram<L extends string = never>(
    name: string,
    help: string,
    labels?: readonly L[],
    buckets?: number[],
  ): Histogram<L>;
  /** Returns all metrics in the text format of Prometheus. */
  text(): Promise<string>;
  contentType: string;
};

/** From a millisecond, which a gateway adds to a call, to ten minutes, which a model may take. */
const DEFAULT_BUCKETS_SECONDS = [
  0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600,
];

/** Creates the registry of a process; scrapes have the runtime's metrics, too (CPU, memory, event loop lag). */
export function createMetrics(role: string): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ role });
  const registers = [registry];
  let isMonitored = false;
  // From the first scrape on: sampling the lag of the event loop wakes a process a hundred times a second, which was the half of
  // all that an idle machine did.
  const monitorRuntime = () => {
    if (!isMonitored) collectDefaultMetrics({ register: registry });
    isMonitored = true;
  };
  return {
    registry,
    counter: (name, help, labels = []) =>
      new Counter({ name: `assay_${name}`, help, labelNames: [...labels], registers }),
    gauge: (name, help, labels = []) =>
      new Gauge({ name: `assay_${name}`, help, labelNames: [...labels], registers }),
    countedElsewhere: (name, help, read) => {
      new Counter({
        name: `assay_${name}`,
        help,
        registers,
        collect() {
          this.reset();
          this.inc(read());
        },
      });
    },
    readOnDemand: (name, help, read) => {
      new Gauge({
        name: `assay_${name}`,
        help,
        registers,
        collect() {
          this.set(read());
        },
      });
    },
    histogram: (name, help, labels = [], buckets = DEFAULT_BUCKETS_SECONDS) =>
      new Histogram({ name: `assay_${name}`, help, labelNames: [...labels], buckets, registers }),
    text: () => {
      monitorRuntime();
      return registry.metrics();
    },
    contentType: registry.contentType,
  };
}
