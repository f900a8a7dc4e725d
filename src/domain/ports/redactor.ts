import type { JsonObject, JsonValue } from '../../base/json.ts';
import type { ToolDeclaration } from '../tool/tool.ts';

/** Removes secrets from data that is stored or shown. The tool itself gets the data unchanged. */
export interface Redactor {
  /**
   * Canonical JSON of a call's arguments, with secrets masked, cut for display. Returns the same text when it is short and has no secrets.
   */
  arguments(canonical: string, tool?: Pick<ToolDeclaration, 'inputSchema'>): string;
  /** Redacts free text: a command, an error, a log line. */
  text(text: string): string;
  /**
   * Returns a mask for texts that may repeat secret arguments, such as errors and log lines. The tool's schema marks which arguments are
   * secret. `args` are JSON values or JSON text. Undefined: the schema marks none. Without this method, such texts are not searched.
   */
  repeated?(
    tool: Pick<ToolDeclaration, 'inputSchema'>,
    args: readonly (JsonObject | string)[],
  ): RepeatedMask | undefined;
}

export interface RepeatedMask {
  /** `mayBeCut`: the text was shortened before, perhaps in the middle of a secret. */
  scrubText(text: string, mayBeCut?: boolean): string;
  /**
   * Masks the secret arguments in the texts, keys and numbers of a value. A value that cannot be searched is replaced by an object that
   * states this.
   */
  scrub<Value extends JsonValue>(value: Value): Value | JsonObject;
}
