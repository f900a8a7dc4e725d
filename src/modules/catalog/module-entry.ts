import type { JsonObject } from '../../base/json.ts';
import type { RunnerName } from '../../domain/tool/tool.ts';

/** One configured instance of a module file. */
export interface ModuleEntry {
  /** Absent: the module's own id is used. */
  readonly id?: string;
  /** Absolute path, with links resolved where the file exists. */
  readonly file: string;
  readonly setup: JsonObject;
  readonly pool?: string;
  readonly runner?: RunnerName;
}
