/** A box for a text of the address, which is taken when it is finished. What is being typed outlasts other changes of the page. */
import { useLayoutEffect, useState } from 'preact/hooks';
import { type AddressChanges, useAddress } from '../../state/address.ts';

type Typed = { currentTarget: HTMLInputElement };

/**
 * Returns the attributes of an input.
 * @param along what else changes when the text does
 * @example <input type="search" {...useAddressText('code', { at: null })} />
 */
export function useAddressText(name: string, along?: AddressChanges) {
  const { query, set } = useAddress();
  const stored = query[name] ?? '';
  const [value, setValue] = useState(stored);
  useLayoutEffect(() => setValue(stored), [stored]);
  return {
    value,
    onInput: ({ currentTarget }: Typed) => setValue(currentTarget.value),
    onChange: ({ currentTarget }: Typed) => set({ ...along, [name]: currentTarget.value.trim() }),
  };
}
