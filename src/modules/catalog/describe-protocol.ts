import type { JsonObject } from '../../base/json.ts';
import type { ModuleDeclaration } from '../../domain/tool/module.ts';
import type { RunnerName } from '../../domain/tool/tool.ts';

/** A request from the loader to the child process. The loader sends one at a time. */
export interface DescribeRequest {
  readonly ticket: number;
  readonly file: string;
  readonly generation: string;
  readonly id?: string;
  readonly setup: JsonObject;
}

/**
 * A message from the child process. `importing` is sent just before the import: if the child hangs before that, the requested module is not
 * the cause.
 */
export type DescribeAnswer =
  | { readonly kind: 'ready' }
  | { readonly kind: 'importing'; readonly ticket: number }
  /** JSON text of a DescribedModule. The loader parses it strictly, because it comes from a process that runs module code. */
  | { readonly kind: 'described'; readonly ticket: number; readonly json: string }
  | { readonly kind: 'broken'; readonly ticket: number; readonly id?: string; readonly reason: string };

/** A module as data, before the loader adds pool and digest. */
export interface DescribedModule extends Omit<ModuleDeclaration, 'pool' | 'digest'> {
  readonly pool?: string;
  readonly runner: RunnerName;
  readonly needs?: readonly string[];
  /** Tool id → RE2 patterns of bare strings that mean a denial. */
  readonly denialPatterns: Readonly<Record<string, readonly string[]>>;
}
