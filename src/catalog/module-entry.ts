import type { JsonObject } from '../domain/json.ts';
import type { RunnerName } from '../domain/tool.ts';

/** One configured instance of a module file. */
export interface ModuleEntry {
  /** Absent: the id the module gives itself. */
  readonly id?: string;
  /** Absolute, links resolved where the file exists. */
  readonly file: string;
  readonly setup: JsonObject;
  readonly pool?: string;
  readonly runner?: RunnerName;
}
