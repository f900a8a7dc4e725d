import type { BenchOptions } from './options.ts';
import { PRODUCT, type MeasuredName } from './variants.ts';

/** With `--against`, each plane is followed by the same plane of the other build. */
export function namesOf({ variants, againstFolder }: Pick<BenchOptions, 'variants' | 'againstFolder'>): MeasuredName[] {
  return variants.flatMap((name): MeasuredName[] =>
    againstFolder === undefined || !PRODUCT.includes(name) ? [name] : [name, `${name}@against`],
  );
}
