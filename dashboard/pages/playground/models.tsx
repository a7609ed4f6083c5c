/** The models that calls can use, offered below every field for a model. */
import type { ModelsJson } from '#core/contracts/playground.ts';
import { call } from '../../client/call.ts';
import { useResource } from '../../client/resource.ts';
import { dollars } from '../../parts/formats/numbers.ts';

/** The id that fields for a model name. */
export const MODELS = 'playground-models';

type Model = ModelsJson['models'][number];

function labelOf({ provider, input_price: input, output_price: output }: Model): string {
  return `${provider}, ${dollars(input)} in and ${dollars(output)} out per million tokens`;
}

/** Returns the models, and what the list of suggestions is. */
export function useModels() {
  const { data, failure } = useResource('models', (signal) =>
    call<ModelsJson>('GET', '/v1/model', undefined, signal),
  );
  const list = (
    <datalist id={MODELS}>
      {data?.groups.map(({ id, models }) => (
        <option key={id} value={id} label={models.join(', ')} />
      ))}
      {data?.models.map((model) => (
        <option key={`${model.provider} ${model.id}`} value={model.id} label={labelOf(model)} />
      ))}
    </datalist>
  );
  /** Says what a model costs; null: its price is not known. */
  const priceOf = (id: string): string | null => {
    const model = data?.models.find((one) => one.id === id);
    return model === undefined ? null : labelOf(model);
  };
  return { list, priceOf, failure };
}
