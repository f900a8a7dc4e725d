/** A source of secrets. The first provider that knows a name is asked for its value. */
export type SecretProvider =
  /** Environment variables of the worker, by their own names. */
  | { readonly environment: readonly string[] }
  /** `secret:NAME` is the environment variable PREFIX + NAME. */
  | { readonly environmentPrefix: string }
  /** `secret:NAME` is the file NAME in this folder. */
  | { readonly folder: string }
  | { readonly name: string; readonly file: string }
  | SecretCommand;

/** A program that prints the secret. Started without a shell. */
export interface SecretCommand {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  /** Environment variables that the program gets in addition to PATH and HOME. */
  readonly env?: readonly string[];
  readonly cwd?: string;
  readonly timeoutMs?: number;
  /** How long an answer is cached, in ms. 0: the program is run each time. */
  readonly cacheMs?: number;
}

export const SECRET_COMMAND_DEFAULTS = Object.freeze({ timeoutMs: 10_000, cacheMs: 60_000 });
