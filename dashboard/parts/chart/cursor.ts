/** The moment that all charts of a page point at. */
import { signal } from '@preact/signals';

/** Milliseconds since the epoch; null: none. */
export const cursor = signal<number | null>(null);
