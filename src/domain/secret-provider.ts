/** Where secrets of some names come from. The first one that knows a name is asked. */
export type SecretProvider =
  /** Variables of the worker, by their own names. */
  | { readonly environment: readonly string[] }
  /** `secret:NAME` is the variable PREFIX + NAME. */
  | { readonly environmentPrefix: string }
  /** `secret:NAME` is the file NAME in it. */
  | { readonly folder: string }
  | { readonly name: string; readonly file: string }
  | SecretCommand;

/** A program that prints the secret. Started without a shell. */
export interface SecretCommand {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  /** Variables it gets beside PATH and HOME. */
  readonly env?: readonly string[];
  readonly cwd?: string;
  readonly timeoutMs?: number;
  /** How long an answer is used again; 0: it is asked each time. */
  readonly cacheMs?: number;
}

export const SECRET_COMMAND_DEFAULTS = Object.freeze({ timeoutMs: 10_000, cacheMs: 60_000 });
