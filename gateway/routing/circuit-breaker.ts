/**
 * Circuit breakers of provider addresses, driven by the calls that are made there. They never reject calls, they only
 * reorder candidates: a call avoids a failing address while it has another candidate.
 *
 *     closed ──5 failures in a row, or 10 of 20──▸ open ──5 s, doubled each time, to 60──▸ half-open: one call tries it
 *        ▴                                          ▴                                        │           │
 *        │                                          └──────────────── it fails ──────────────┘           │
 *        └───────────────────────────────────────── it succeeds ─────────────────────────────────────────┘
 */

import type { ErrorCode } from '#core/contracts/errors.ts';
import type { Clock } from '#platform/process/clock.ts';
import type { Candidate } from '../providers/resolve.ts';

export type BreakerState = 'closed' | 'open' | 'half-open';

/**
 * Permit for a call to an address: its circuit is closed, open, or half-open and this call is the probe. Passed back to
 * `settle` when the call has ended.
 */
export type Permit = { readonly kind: 'closed' | 'probe' | 'open' };

const CLOSED: Permit = { kind: 'closed' };
const OPEN: Permit = { kind: 'open' };

/** The state of an address that the end of a call shows; `unknown`: none. */
export type Health = 'healthy' | 'failing' | 'unknown';

export type CircuitBreaker = {
  /**
   * Returns the permit for a call to an address. A call with `open` should go elsewhere if it can. A call with `probe` is
   * the only one that tests the address, and must be settled.
   */
  admit(address: string): Permit;
  /** Returns the same without making the call the probe, for calls that have nowhere else to go. */
  peekPermit(address: string): Permit;
  /** Notes that a call has ended; to be called at most once for each permit. */
  settle(address: string, permit: Permit, health: Health): void;
};

export type CircuitBreakerOptions = {
  clock: Pick<Clock, 'monotonic'>;
  /** Called when the state of an address has changed. */
  onChange?(address: string, state: BreakerState): void;
};

/** The number of latest outcomes that count. */
const WINDOW = 20;
/** Failures among them that open the circuit: the address fails every second call. */
const FAILURES_IN_WINDOW = 10;
/** Failures in a row that open it: the address is gone. Fewer would be bad luck where one call in ten fails. */
const FAILURES_IN_A_ROW = 5;
/** Failures further apart than this do not add up: what happened between them is unknown. */
const APART_MS = 60_000;
const OPEN_MS = { first: 5_000, longest: 60_000 };

const WINDOW_BITS = 2 ** WINDOW - 1;
const ROW_BITS = 2 ** FAILURES_IN_A_ROW - 1;

/** Only addresses that failed lately have one; they come from configuration, so there are few. */
type Circuit = {
  isOpen: boolean;
  /** The permit of the probe while the circuit is open; null: there is none. */
  probe: Permit | null;
  /** The latest outcomes, the newest as the lowest bit; 1: a failure. */
  recent: number;
  failedAt: number;
  /** When the next probe of an open circuit is due. */
  probeAt: number;
  openMs: number;
};

/** Returns what an outcome says of an address. A refusal is a sign of life; a rate limit says nothing, and erases nothing. */
export function healthOf(status: number, errorCode: ErrorCode | null): Health {
  if (errorCode !== null)
    return errorCode === 'provider_unreachable' || errorCode === 'provider_timeout' ? 'failing' : 'unknown';
  if (status >= 500) return 'failing';
  return status === 408 || status === 429 ? 'unknown' : 'healthy';
}

/**
 * Returns the name of a candidate's circuit. The origin alone would not do: where calls leave through a proxy of the
 * operator's, all providers may have the same.
 */
export function addressOf({ provider, origin }: Pick<Candidate, 'provider' | 'origin'>): string {
  return `${provider} ${origin}`;
}

/** Returns the provider of an address. */
export function providerOf(address: string): string {
  return address.slice(0, address.indexOf(' '));
}

/** Makes the breakers of all addresses, closed at first. */
export function createCircuitBreaker({ clock, onChange = () => {} }: CircuitBreakerOptions): CircuitBreaker {
  const circuits = new Map<string, Circuit>();

  function open(address: string, circuit: Circuit): void {
    circuit.isOpen = true;
    circuit.probe = null;
    circuit.probeAt = clock.monotonic() + circuit.openMs;
    onChange(address, 'open');
  }

  function succeeded(address: string, circuit: Circuit, permit: Permit): void {
    if (!circuit.isOpen) {
      circuit.recent = (circuit.recent << 1) & WINDOW_BITS;
      if (circuit.recent === 0) circuits.delete(address);
    } else if (permit !== CLOSED) {
      circuits.delete(address);
      onChange(address, 'closed');
    }
    // Else the call began before the circuit opened: what it says is out of date.
  }

  function failed(address: string, circuit: Circuit, permit: Permit): void {
    if (!circuit.isOpen) {
      const now = clock.monotonic();
      const before = now - circuit.failedAt > APART_MS ? 0 : circuit.recent;
      circuit.recent = ((before << 1) | 1) & WINDOW_BITS;
      circuit.failedAt = now;
      if (isTooMuch(circuit.recent)) open(address, circuit);
    } else if (permit === circuit.probe) {
      circuit.openMs = Math.min(2 * circuit.openMs, OPEN_MS.longest);
      open(address, circuit);
    }
  }

  function madeFor(address: string): Circuit {
    const circuit = { isOpen: false, probe: null, recent: 0, failedAt: 0, probeAt: 0, openMs: OPEN_MS.first };
    circuits.set(address, circuit);
    return circuit;
  }

  return {
    admit: (address) => {
      const circuit = circuits.get(address);
      if (circuit === undefined || !circuit.isOpen) return CLOSED;
      if (circuit.probe !== null || clock.monotonic() < circuit.probeAt) return OPEN;
      circuit.probe = { kind: 'probe' };
      onChange(address, 'half-open');
      return circuit.probe;
    },
    peekPermit: (address) => (circuits.get(address)?.isOpen ? OPEN : CLOSED),
    settle: (address, permit, health) => {
      const circuit = circuits.get(address);
      if (health === 'failing') failed(address, circuit ?? madeFor(address), permit);
      else if (circuit === undefined) return;
      else if (health === 'healthy') succeeded(address, circuit, permit);
      else if (permit === circuit.probe) {
        // The probe found nothing out, so the next call is a probe.
        circuit.probe = null;
        onChange(address, 'open');
      }
    },
  };
}

function isTooMuch(recent: number): boolean {
  return (recent & ROW_BITS) === ROW_BITS || failuresIn(recent) >= FAILURES_IN_WINDOW;
}

function failuresIn(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}
