/** The models that the tests of the `ai` package call: each of its providers, by each surface that it uses. */
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import type { EmbeddingModel, LanguageModel } from 'ai';
import {
  CHAT_PLACE,
  CLAUDE,
  EMBEDDER,
  MESSAGES_PLACE,
  MODEL,
  type Place,
  RESPONSES_PLACE,
} from './records.ts';
import type { World } from './world.ts';

export type AiModel = {
  name: string;
  place: Place;
  model(world: World, headers: Record<string, string>): LanguageModel;
};

function openAi({ baseUrl: baseURL, apiKey }: World, headers: Record<string, string>) {
  return createOpenAI({ baseURL, apiKey, headers });
}

function anthropic({ baseUrl: baseURL, apiKey }: World, headers: Record<string, string>) {
  return createAnthropic({ baseURL, apiKey, headers });
}

export const AI_MODELS: readonly AiModel[] = [
  { name: 'openai', place: RESPONSES_PLACE, model: (world, headers) => openAi(world, headers)(MODEL) },
  { name: 'openai.chat', place: CHAT_PLACE, model: (world, headers) => openAi(world, headers).chat(MODEL) },
  {
    name: 'openai.chat to Anthropic',
    place: { ...MESSAGES_PLACE, path: CHAT_PLACE.path },
    model: (world, headers) => openAi(world, headers).chat(CLAUDE),
  },
  { name: 'anthropic', place: MESSAGES_PLACE, model: (world, headers) => anthropic(world, headers)(CLAUDE) },
  {
    name: 'anthropic to OpenAI',
    place: { ...CHAT_PLACE, path: MESSAGES_PLACE.path },
    model: (world, headers) => anthropic(world, headers)(MODEL),
  },
];

export function embedderOf(world: World, headers: Record<string, string>): EmbeddingModel {
  return openAi(world, headers).embedding(EMBEDDER);
}
