import { z } from 'zod';
import { configSchema } from './config-schema.ts';
import { factsOf, type OptionFacts } from './option.ts';

/** One option with its dotted path. */
export interface OptionRow extends OptionFacts {
  readonly path: string;
  readonly env: string;
  readonly fallback: unknown;
  readonly schema: z.ZodType;
}

export const OPTION_ROWS: readonly OptionRow[] = collect(configSchema, []);

/** `worker.leaseMs` becomes `SALLYPORT_WORKER_LEASE_MS`. */
function envName(path: readonly string[]): string {
  return ['SALLYPORT', ...path.map((part) => part.replaceAll(/[A-Z]/g, '_$&').toUpperCase())].join('_');
}

function collect(schema: z.ZodType, path: readonly string[]): OptionRow[] {
  const inner = schema instanceof z.ZodPrefault ? (schema.unwrap() as z.ZodType) : schema;
  if (inner instanceof z.ZodObject) {
    return Object.entries(inner.shape as Record<string, z.ZodType>).flatMap(([name, member]) =>
      collect(member, [...path, name]),
    );
  }
  const facts = factsOf(schema);
  if (facts === undefined) throw new TypeError(`${path.join('.')} is no option`);
  const fallback: unknown = schema instanceof z.ZodDefault ? schema.def.defaultValue : undefined;
  return [{ ...facts, path: path.join('.'), env: envName(path), fallback, schema }];
}

/** The option at a path, or the option that a longer path such as `redis.sentinels.0.port` leads into. */
export function rowAt(path: string): OptionRow | undefined {
  return OPTION_ROWS.find((row) => path === row.path || path.startsWith(`${row.path}.`));
}

/** The keys of a group. For the empty path, the keys of the whole configuration. */
export function keysBelow(path: string): readonly string[] {
  const { members } = rowAt(path) ?? {};
  if (members !== undefined) return members;
  const prefix = path === '' ? '' : `${path}.`;
  const below = OPTION_ROWS.filter((row) => row.path.startsWith(prefix));
  return [...new Set(below.map((row) => row.path.slice(prefix.length).split('.')[0]!))];
}
