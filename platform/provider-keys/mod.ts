/** Provider keys that organizations store for their own calls. */
export {
  createKeyOpener,
  type KeyOpener,
  NO_PROVIDER_KEYS,
  type ProviderKeys,
  type SealedProviderKey,
} from './opener.ts';
export { openProviderKey, type ProviderKeyOwner, sealProviderKey } from './seal.ts';
export { findSealedKeys, findStoredProviders } from './store.ts';
