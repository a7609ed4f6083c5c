/** Pages for those who run the product. Fetched together: apart, what they share would be many small files. */

export { Alerts } from './alerts/alerts.tsx';
export { DeadLetters } from './dead-letters/dead-letters.tsx';
export { Keys } from './keys/keys.tsx';
export { Limits } from './limits/limits.tsx';
export { Settings } from './settings/settings.tsx';
export { System } from './system/system.tsx';
export { Webhooks } from './webhooks/webhooks.tsx';
