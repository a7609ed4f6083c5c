/** Totals of the calls of one attempt: tokens, cost, latency. */

import type { Usage } from '#core/chat/mod.ts';
import { indexedText } from '#core/contracts/storable-text.ts';
import { BUILT_IN_CATALOG, type Catalog } from '#core/models/mod.ts';
import type { JudgeUse } from '#core/scoring/mod.ts';
import type { JudgeReply } from './client.ts';

/** The parts of a response that its cost is computed from. */
export type JudgeAnswer = {
  /** The model by the provider's name. */
  model: string | null;
  usage: Usage | null;
  /** `provider/model` as the gateway called it, when the evaluator's model is a list, a group or another name; else null. */
  routedModel: string | null;
};

/** Sums the calls of one attempt. Figures that a response does not report are left out of the sums. */
export class UseMeter {
  readonly #requestedModel: string;
  readonly #catalog: Catalog;
  readonly #use: JudgeUse;

  constructor(model: string, catalog: Catalog = BUILT_IN_CATALOG) {
    this.#requestedModel = model;
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

  /** @param atMs time of the call, which decides its price */
  addAnswer({ model, usage, routedModel }: JudgeAnswer, atMs: number): void {
    if (model !== null) this.#use.model = indexedText(model);
    if (usage === null) return;
    this.#use.promptTokens = (this.#use.promptTokens ?? 0) + usage.promptTokens;
    this.#use.completionTokens = (this.#use.completionTokens ?? 0) + usage.completionTokens;
    const called = this.#catalog.providerOf(routedModel ?? this.#requestedModel);
    if (called === null) return;
    const cost = this.#catalog.costOf({
      provider: called.provider,
      models: [model, called.model],
      usage,
      atMs,
    });
    if (cost !== null) this.#use.costNano = (this.#use.costNano ?? 0) + cost.nano;
  }

  /** Null when no call was made. */
  total(): JudgeUse | null {
    if (this.#use.calls === 0) return null;
    return { ...this.#use, model: this.#use.model ?? this.#requestedModel };
  }
}

/** Sums the use of several judges, whose models are named together. Null: none was called. */
export function sumUse(uses: readonly (JudgeUse | null)[]): JudgeUse | null {
  const [first, ...others] = uses.filter((use) => use !== null);
  if (first === undefined) return null;
  const sum = others.reduce<JudgeUse>(
    (total, use) => ({
      calls: total.calls + use.calls,
      requestIds: [...total.requestIds, ...use.requestIds],
      model: [total.model, use.model].filter((model) => model !== null).join(', '),
      promptTokens: addKnown(total.promptTokens, use.promptTokens),
      completionTokens: addKnown(total.completionTokens, use.completionTokens),
      costNano: addKnown(total.costNano, use.costNano),
      latencyMs: total.latencyMs + use.latencyMs,
    }),
    first,
  );
  return { ...sum, model: sum.model === null ? null : indexedText(sum.model) };
}

const addKnown = (one: number | null, other: number | null) => (one === null ? other : one + (other ?? 0));

/** The date of a snapshot, which does not make it another model. */
const SNAPSHOT = /-(?:\d{4}-\d{2}-\d{2}|\d{8}|latest)$/;

function modelFamily(model: string): string {
  return model
    .slice(model.lastIndexOf('/') + 1)
    .toLowerCase()
    .replace(SNAPSHOT, '');
}

/** Returns whether the judge, as requested or as it answered, is the model that it judges. */
export function judgesItself(subjectModel: string | null, judgeModels: readonly (string | null)[]): boolean {
  if (subjectModel === null || subjectModel === '') return false;
  const family = modelFamily(subjectModel);
  return judgeModels.some(
    (model) => model?.split(',').some((name) => modelFamily(name.trim()) === family) ?? false,
  );
}
