import type { VNode } from 'preact';
import type { CatalogView } from '../../../../src/gateway/api/catalog-schema.ts';
import { api } from '../../api.ts';
import { Badge } from '../../components/badge.tsx';
import { Inert } from '../../components/inert.tsx';
import { useResource } from '../../use-resource.ts';
import type { Worker } from './fleet-types.ts';

type Module = CatalogView['modules'][number];

const PROBLEMS: Partial<Record<Module['serving']['state'], string>> = {
  unserved: 'published, but no live worker serves it',
  'other-version': 'published, but live workers serve only other versions of it',
};

/** Published modules that no live worker serves. The catalog is read again whenever the workers serve something else. */
export function Unserved({ workers }: { readonly workers: readonly Worker[] }): VNode | null {
  const served = workers.flatMap(({ state, modules }) => [state, ...modules.map(({ digest }) => digest)]).join();
  const catalog = useResource((signal) => api.get<CatalogView>('/v1/catalog', { signal }), [served]);
  const found = (catalog.data?.modules ?? []).filter(({ serving }) => PROBLEMS[serving.state] !== undefined);
  if (found.length === 0) return null;
  return (
    <section class="fleet-section" aria-labelledby="unserved-title">
      <h2 id="unserved-title">Without a worker</h2>
      <ul>
        {found.map(({ id, version, tools, serving }) => (
          <li key={id}>
            <span class="mono">
              <Inert text={`${id} ${version}`} />
            </span>{' '}
            <Badge tone="warning">{PROBLEMS[serving.state]}</Badge>{' '}
            <span class="hint">{tools.length === 1 ? '1 tool' : `${tools.length} tools`}</span>
          </li>
        ))}
      </ul>
      <p class="hint">
        Start a worker that serves them, or take them out: <code>sallyport catalog withdraw --unserved</code>
      </p>
    </section>
  );
}
