import type { JsonObject } from '../domain/json.ts';
import type { ModuleDeclaration } from '../domain/module.ts';
import type { RunnerName } from '../domain/tool.ts';

/** From the loader to the child, one at a time. */
export interface DescribeRequest {
  readonly ticket: number;
  readonly file: string;
  readonly generation: string;
  readonly id?: string;
  readonly setup: JsonObject;
}

/** From the child. `importing` comes first: whoever blocks the child before it is not the module asked for. */
export type DescribeAnswer =
  | { readonly kind: 'ready' }
  | { readonly kind: 'importing'; readonly ticket: number }
  /** JSON text of a DescribedModule: parsed strictly, as it was made beside somebody's code. */
  | { readonly kind: 'described'; readonly ticket: number; readonly json: string }
  | { readonly kind: 'broken'; readonly ticket: number; readonly id?: string; readonly reason: string };

/** A module as data, before the loader adds pool and digest. */
export interface DescribedModule extends Omit<ModuleDeclaration, 'pool' | 'digest'> {
  readonly pool?: string;
  readonly runner: RunnerName;
  readonly needs?: readonly string[];
  /** Tool id → patterns. */
  readonly denialPatterns: Readonly<Record<string, readonly string[]>>;
}
