/** What the calls of an attempt used. */

import type { Usage } from '#core/chat/mod.ts';
import { indexedText } from '#core/contracts/storable-text.ts';
import { BUILT_IN_CATALOG, type Catalog } from '#core/models/mod.ts';
import type { JudgeUse } from '#core/scoring/mod.ts';
import type { JudgeReply } from './call.ts';

/** What an answer tells of its cost. */
export type JudgeAnswer = {
  /** As the provider has it. */
  model: string | null;
  usage: Usage | null;
  /** As the gateway asked for it, when that is not what the judge asked for: it had a list, a group or another name. */
  routedModel: string | null;
};

/** Sums the calls of one attempt. What a call did not tell counts nothing: the sums are what is known. */
export class UseMeter {
  readonly #asked: string;
  readonly #catalog: Catalog;
  readonly #use: JudgeUse;

  constructor(model: string, catalog: Catalog = BUILT_IN_CATALOG) {
    this.#asked = model;
    this.#catalog = catalog;
    this.#use = {
      calls: 0,
      requestIds: [],
      model: null,
      promptTokens: null,
      completionTokens: null,
      costNano: null,
      latencyMs: 0,
    };
  }

  addCall(reply: JudgeReply): void {
    this.#use.calls += 1;
    this.#use.latencyMs += Math.round(reply.latencyMs);
    if (reply.requestId !== null) this.#use.requestIds.push(reply.requestId);
  }

  /** @param atMs when the call was made, for its price */
  addAnswer({ model, usage, routedModel }: JudgeAnswer, atMs: number): void {
    if (model !== null) this.#use.model = indexedText(model);
    if (usage === null) return;
    this.#use.promptTokens = (this.#use.promptTokens ?? 0) + usage.promptTokens;
    this.#use.completionTokens = (this.#use.completionTokens ?? 0) + usage.completionTokens;
    const asked = this.#catalog.providerOf(routedModel ?? this.#asked);
    if (asked === null) return;
    const cost = this.#catalog.costOf({
      provider: asked.provider,
      models: [model, asked.model],
      usage,
      atMs,
    });
    if (cost !== null) this.#use.costNano = (this.#use.costNano ?? 0) + cost.nano;
  }

  /** Null when no call was made. */
  total(): JudgeUse | null {
    if (this.#use.calls === 0) return null;
    return { ...this.#use, model: this.#use.model ?? this.#asked };
  }
}

/** A snapshot's date, which does not make another model. */
const SNAPSHOT = /-(?:\d{4}-\d{2}-\d{2}|\d{8}|latest)$/;

function familyOf(model: string): string {
  return model
    .slice(model.lastIndexOf('/') + 1)
    .toLowerCase()
    .replace(SNAPSHOT, '');
}

/** Whether a judge is, or answered as, the model that it judges. */
export function judgesItself(subjectModel: string | null, judgeModels: readonly (string | null)[]): boolean {
  if (subjectModel === null || subjectModel === '') return false;
  const family = familyOf(subjectModel);
  return judgeModels.some(
    (model) => model?.split(',').some((name) => familyOf(name.trim()) === family) ?? false,
  );
}
