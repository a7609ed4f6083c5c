/** Stored prompts: templates with variables, filled with the inputs of a call and merged with its body. */
export { type ExpandedMembers, expandPrompt } from './expand.ts';
export { INPUT, type ListMember, MESSAGES, mergePrompt, namesToScan } from './merge.ts';
export { VARIABLE_TYPES, type VariableType } from './placeholders.ts';
export { PROMPT_FIELDS, type PromptTemplate, type PromptVariable, parsePrompt } from './template.ts';
