import type { Source } from './config-source.ts';
import type { LoadedConfig } from './load-config.ts';
import { OPTION_ROWS } from './option-rows.ts';

export interface ShownOption {
  readonly option: string;
  /** Secrets are masked. Undefined if the option is not given. */
  readonly value: unknown;
  /** What applies instead if the option is not given, in words. */
  readonly otherwise?: string;
  readonly source: Source;
}

/** The effective configuration, one entry per option, safe to print. */
export function showConfig({ config, sources }: LoadedConfig): ShownOption[] {
  return OPTION_ROWS.map((row) => {
    const value = row.path.split('.').reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], config);
    return {
      option: row.path,
      value: row.secret === true && value !== undefined ? '***' : withoutPassword(row.show?.(value) ?? value),
      ...(value === undefined && row.otherwise !== undefined ? { otherwise: row.otherwise } : {}),
      source: sources.get(row.path)!,
    };
  });
}

function withoutPassword(value: unknown): unknown {
  return typeof value === 'string' ? value.replaceAll(/\/\/([^:@/\s]*):[^@/\s]*@/g, '//$1:***@') : value;
}
