import type { ComponentChildren, VNode } from 'preact';

export type Fact = readonly [name: string, value: ComponentChildren | undefined];

/** Names and values in two columns; a fact without a value is left out. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }): VNode {
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
