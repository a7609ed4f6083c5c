/** Stored prompts: templates with variables, filled with the inputs of a call and merged with its body. */
export { type ExpandedMembers, expandPrompt } from './expand.ts';
export { type Inputs, NO_INPUTS, readInputs } from './inputs.ts';
export { type ListMember, mergePrompt, namesToScan } from './merge.ts';
export { VARIABLE_TYPES } from './placeholders.ts';
export { PROMPT_FIELDS, type PromptTemplate, parsePrompt } from './template.ts';
