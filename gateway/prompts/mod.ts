/** Stored prompts in calls: expanded and merged with the body, for each kind of chat. */
export { createPromptExpander } from './expand.ts';
export { takesPrompts } from './prompt-forms.ts';
