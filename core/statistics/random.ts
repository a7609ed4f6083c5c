/** Random numbers that a seed repeats, so that a comparison gives the same answer on every machine. Not for secrets. */

/** A source of random bits. */
export type Random = {
  /** Returns a whole number from 0 to 2³² − 1. */
  bits(): number;
  /** Fills an array with such numbers, which takes less time than as many calls. */
  fillBits(target: Uint32Array): void;
  /** Returns a number in [0, 1), a multiple of 2⁻⁵³. */
  uniform(): number;
  /** Returns a whole number from 0 to `bound` − 1, each equally likely; `bound` is at most `MAX_BOUND`. */
  below(bound: number): number;
  /** Fills an array with such numbers, which takes less time than as many calls. */
  fillBelow(target: Uint32Array, bound: number): void;
};

/** Up to here, products of 16 random bits and a bound are whole numbers of 32 bits. */
const MAX_SMALL_BOUND = 65_536;
/** The product of 32 random bits and a bound must be exact in a double: 2³² · 2²¹ = 2⁵³. */
const MAX_BOUND = 2_097_152;
const TWO_32 = 4_294_967_296;

/** The word that SplitMix64 adds for each output, and its two multipliers. */
const GOLDEN = 0x9e3779b97f4a7c15n;
const MIX = [0xbf58476d1ce4e5b9n, 0x94d049bb133111ebn] as const;
const MASK_64 = 0xffffffffffffffffn;

/** Returns the `index`-th output of SplitMix64 for a seed (G. L. Steele, D. Lea and C. H. Flood, OOPSLA 2014). */
function splitMix64(seed: bigint, index: bigint): bigint {
  let word = (seed + index * GOLDEN) & MASK_64;
  word = ((word ^ (word >> 30n)) * MIX[0]) & MASK_64;
  word = ((word ^ (word >> 27n)) * MIX[1]) & MASK_64;
  return word ^ (word >> 31n);
}

/**
 * Returns the generator xoshiro128** 1.1 (D. Blackman and S. Vigna, "Scrambled linear pseudorandom number generators", ACM
 * TOMS 47, 2021) with its state filled by SplitMix64, as its authors advise.
 * @param seed a whole number up to 2⁵³ − 1
 */
export function seededRandom(seed: number): Random {
  const words = [splitMix64(BigInt(seed), 1n), splitMix64(BigInt(seed), 2n)];
  return randomOf(words.flatMap((word) => [Number(word & 0xffffffffn), Number(word >> 32n)]));
}

/**
 * Returns xoshiro128** 1.1 from its state of four words.
 * @internal Exported so that a test compares it with the published reference.
 */
export function randomOf(words: readonly number[]): Random {
  const state = Uint32Array.from(words);
  const one = new Uint32Array(1);
  const bits = (): number => {
    fillBits(state, one);
    return one[0]!;
  };
  return {
    bits,
    fillBits: (target) => fillBits(state, target),
    uniform: () => ((bits() >>> 5) * 67_108_864 + (bits() >>> 6)) / 9_007_199_254_740_992,
    below: (bound) => {
      fillBelow(state, one, bound);
      return one[0]!;
    },
    fillBelow: (target, bound) => fillBelow(state, target, bound),
  };
}

/** Fills `target` with words, and advances the state. The state is in local variables meanwhile: a tenth of the time. */
function fillBits(state: Uint32Array, target: Uint32Array): void {
  let [a, b, c, d] = state as unknown as [number, number, number, number];
  for (let index = 0; index < target.length; index += 1) {
    const times5 = Math.imul(b, 5);
    target[index] = Math.imul((times5 << 7) | (times5 >>> 25), 9);
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = (d << 11) | (d >>> 21);
  }
  state[0] = a;
  state[1] = b;
  state[2] = c;
  state[3] = d;
}

/**
 * Fills `target` with whole numbers from 0 to `bound` − 1: each is the upper half of the product of a word and the bound, and
 * words that would make some numbers more likely are rejected (D. Lemire, ACM TOMACS 29, 2019, algorithm 5).
 */
function fillBelow(state: Uint32Array, target: Uint32Array, bound: number): void {
  if (!(bound >= 1 && bound <= MAX_BOUND)) throw new RangeError(`Cannot draw below ${bound}`);
  const threshold = TWO_32 % bound;
  fillBits(state, target);
  if (bound > MAX_SMALL_BOUND) {
    for (let index = 0; index < target.length; index += 1) {
      const word = target[index]!;
      const product = word * bound;
      const upper = Math.floor(product / TWO_32);
      const isAccepted = product - upper * TWO_32 >= threshold;
      target[index] = isAccepted ? upper : acceptedBelow(state, word, bound, threshold);
    }
    return;
  }
  // The product of 48 bits in two halves of signed numbers of 32 bits: doubles take three times as long.
  for (let index = 0; index < target.length; index += 1) {
    const word = target[index]! | 0;
    const lower = Math.imul(word & 65_535, bound);
    const upper = (Math.imul(word >>> 16, bound) + (lower >>> 16)) | 0;
    const isAccepted = (upper & 65_535) !== 0 || (lower & 65_535) >= threshold;
    target[index] = isAccepted ? upper >>> 16 : acceptedBelow(state, word >>> 0, bound, threshold);
  }
}

/** Returns the number that a word stands for, or one that stands for a new word while the word is rejected. */
function acceptedBelow(state: Uint32Array, word: number, bound: number, threshold: number): number {
  const again = Uint32Array.of(word);
  while ((again[0]! * bound) % TWO_32 < threshold) fillBits(state, again);
  return Math.floor((again[0]! * bound) / TWO_32);
}
