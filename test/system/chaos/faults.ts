/**
 * What goes wrong in a run, and when. A pure function of seed and duration, so that the faults of a run can be had
 * again; what they meet is another matter, as processes and machines have a timing of their own.
 */
import { seededRandom } from '../../support/random.ts';

export const GATEWAYS = ['gateway-1', 'gateway-2'] as const;
export const INGESTS = ['ingest-1', 'ingest-2'] as const;
const PROCESSES = [...GATEWAYS, ...INGESTS, 'api', 'nats'] as const;

export type GatewayName = (typeof GATEWAYS)[number];
export type Target = (typeof PROCESSES)[number] | 'postgres';

type Span = { least: number; most: number };

type FaultRule = {
  targets: readonly Target[];
  /** How often it comes, in relation to the others. */
  weight: number;
  forMs: Span;
};

const RULES = {
  /** SIGKILL; started again after `forMs`. */
  kill: { targets: PROCESSES, weight: 50, forMs: { least: 0, most: 2_000 } },
  /** SIGTERM; started again `forMs` after its end. */
  terminate: { targets: PROCESSES, weight: 16, forMs: { least: 0, most: 2_000 } },
  /** SIGSTOP for `forMs`. Of Postgres: connections stay open, and nothing comes through. */
  freeze: { targets: [...PROCESSES, 'postgres'], weight: 14, forMs: { least: 1_000, most: 20_000 } },
  /** SIGKILL; started again after `forMs`, with nothing in its store. */
  empty: { targets: ['nats'], weight: 6, forMs: { least: 0, most: 3_000 } },
  /** Connections are ended, and refused for `forMs`. */
  cut: { targets: ['postgres'], weight: 4, forMs: { least: 5_000, most: 60_000 } },
  /** All processes of the server end at once; started again after `forMs`, it recovers. */
  crash: { targets: ['postgres'], weight: 4, forMs: { least: 0, most: 3_000 } },
  /** For `forMs` the disk takes nothing more. */
  fill: { targets: GATEWAYS, weight: 6, forMs: { least: 2_000, most: 15_000 } },
} as const satisfies Record<string, FaultRule>;

export type FaultKind = keyof typeof RULES;
export const FAULT_KINDS = Object.keys(RULES) as FaultKind[];

export type Fault = { atMs: number; forMs: number; kind: FaultKind; target: Target };

/** From the beginning of one fault to that of the next. */
const GAP_MS: Span = { least: 500, most: 4_000 };
/** No fault takes more of a run than this: in a short one, 60 s without Postgres would be all there is. */
const LONGEST_SHARE = 1 / 6;
/** So long a target is left alone after a fault: it starts meanwhile, and takes up its work. */
const RECOVERY_MS = 3_000;
/** A gateway whose disk was full is left alone until what it refused is counted: it keeps the number in memory. */
export const COUNTING_MS = 4_000;

/** A fault in the plan, and when its target is up again. */
type Planned = Fault & { freeAtMs: number };

/** A gateway that is down. Without Postgres it does not come back. */
function isDown({ kind, target }: Fault): boolean {
  return target.startsWith('gateway') && (kind === 'kill' || kind === 'terminate');
}

/**
 * Adds a fault to the plan, or returns false: its target has not recovered from another one, or no gateway would be left
 * to answer calls while Postgres is away.
 */
function addTo(plan: Planned[], fault: Fault): boolean {
  const busy = plan.filter(({ freeAtMs }) => freeAtMs > fault.atMs);
  if (busy.some(({ target }) => target === fault.target)) return false;
  const down = busy.filter(isDown);
  const outage = busy.find(({ target }) => target === 'postgres');
  let freeAtMs = fault.atMs + fault.forMs + RECOVERY_MS + (fault.kind === 'fill' ? COUNTING_MS : 0);
  if (isDown(fault) && outage !== undefined) {
    if (down.length === GATEWAYS.length - 1) return false;
    freeAtMs = Math.max(freeAtMs, outage.freeAtMs + RECOVERY_MS);
  }
  if (fault.target === 'postgres') {
    if (down.length === GATEWAYS.length) return false;
    for (const gateway of down) gateway.freeAtMs = Math.max(gateway.freeAtMs, freeAtMs + RECOVERY_MS);
  }
  plan.push({ ...fault, freeAtMs });
  return true;
}

function within({ least, most }: Span, random: () => number): number {
  return Math.round(least + random() * (most - least));
}

function shuffled<T>(values: readonly T[], random: () => number): T[] {
  return values
    .map((value) => ({ value, place: random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ value }) => value);
}

function weighted(random: () => number): FaultKind {
  const sum = FAULT_KINDS.reduce((total, kind) => total + RULES[kind].weight, 0);
  let left = random() * sum;
  return FAULT_KINDS.find((kind) => {
    left -= RULES[kind].weight;
    return left < 0;
  })!;
}

/**
 * The faults of a run, by time. Each kind comes once before any comes twice at random; all are over when the run is.
 * @param durationMs of the load
 */
export function planFaults(seed: number, durationMs: number): Fault[] {
  const random = seededRandom(seed);
  const plan: Planned[] = [];
  const first = shuffled(FAULT_KINDS, random);
  for (let atMs = within(GAP_MS, random); atMs < durationMs; atMs += within(GAP_MS, random)) {
    const kind = first[0] ?? weighted(random);
    const { targets, forMs } = RULES[kind];
    const most = Math.min(forMs.most, durationMs * LONGEST_SHARE);
    const lasts = within({ least: Math.min(forMs.least, most), most }, random);
    const choice = shuffled<Target>(targets, random);
    if (atMs + lasts > durationMs) continue;
    if (choice.some((target) => addTo(plan, { atMs, forMs: lasts, kind, target }))) first.shift();
  }
  return plan.map(({ atMs, forMs, kind, target }) => ({ atMs, forMs, kind, target }));
}
