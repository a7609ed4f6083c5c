/**
 * How healthy providers are at their addresses, told by the calls that are made there. It turns no call away: a call that
 * could go elsewhere does so while an address is ill, one that has nowhere else to go is made all the same.
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
 * What a call to an address is: to one that is well (`closed`), to one that is ill (`open`), or the one that finds out
 * (`probe`). To be handed back when it has ended.
 */
export type Permit = { readonly kind: 'closed' | 'probe' | 'open' };

const CLOSED: Permit = { kind: 'closed' };
const OPEN: Permit = { kind: 'open' };

/** What the end of a call says of the address; `unknown`: nothing. */
export type Health = 'healthy' | 'failing' | 'unknown';

export type CircuitBreaker = {
  /**
   * Asks whether to call an address. Who gets `open` should call elsewhere if it can. Who gets `probe` is the only one
   * that finds out, and must settle it.
   */
  admit(address: string): Permit;
  /** The same without the chance to be the probe, for calls that have nowhere else to go. */
  peekPermit(address: string): Permit;
  /** A call has ended; to be called at most once for each. */
  settle(address: string, permit: Permit, health: Health): void;
};

export type CircuitBreakerOptions = {
  clock: Pick<Clock, 'monotonic'>;
  /** An address's state has changed. */
  onChange?(address: string, state: BreakerState): void;
};

/** Outcomes looked at. */
const WINDOW = 20;
/** Of all of them, wherever they stand: an address that fails every second call. */
const FAILURES_IN_WINDOW = 10;
/** The latest: an address that is gone. Fewer would be bad luck where one call in ten fails. */
const FAILURES_IN_A_ROW = 5;
/** Failures further apart than this do not add up, as nobody knows what was between them. */
const APART_MS = 60_000;
const OPEN_MS = { first: 5_000, longest: 60_000 };

const WINDOW_BITS = 2 ** WINDOW - 1;
const ROW_BITS = 2 ** FAILURES_IN_A_ROW - 1;

/** Only addresses that failed lately have one; they come from configuration, so there are few. */
type Circuit = {
  isOpen: boolean;
  /** Who finds out, of one that is open; null: nobody. */
  probe: Permit | null;
  /** The latest outcomes, the newest as the lowest bit; 1: a failure. */
  recent: number;
  failedAt: number;
  /** When the next probe is due, of one that is open. */
  probeAt: number;
  openMs: number;
};

/** What an outcome says of an address. A refusal is a sign of life; a rate limit says nothing, and erases nothing. */
export function healthOf(status: number, errorCode: ErrorCode | null): Health {
  if (errorCode !== null)
    return errorCode === 'provider_unreachable' || errorCode === 'provider_timeout' ? 'failing' : 'unknown';
  if (status >= 500) return 'failing';
  return status === 408 || status === 429 ? 'unknown' : 'healthy';
}

/**
 * What a breaker knows a route's provider by. Its address alone would not do: where calls leave through a proxy of their
 * own, that of one provider is that of all.
 */
export function addressOf({ provider, origin }: Pick<Candidate, 'provider' | 'origin'>): string {
  return `${provider} ${origin}`;
}

/** Makes the breaker of all addresses, closed for each. */
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
    // Else it was called before the address fell ill: what it says is out of date.
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
        // It has found nothing out, so the next call is a probe.
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
