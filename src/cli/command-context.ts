import type { Command } from 'commander';
import { PlaneError } from '../domain/errors/errors.ts';
import { nearNames } from '../base/near-names.ts';
import { loadConfig, type LoadedConfig } from '../config/load-config.ts';
import { ConfigOption } from './single-option.ts';
import { setStoreFlags } from './own-command.ts';
import { storeFlagsOf } from './store-flags.ts';
import { createTerminal, type Terminal } from './terminal.ts';

/** What every command gets: the terminal, its options, and a function that loads the configuration. */
export interface CommandContext {
  readonly terminal: Terminal;
  /** All options given on the command line, by the names of their flags. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Reads the configuration file, the environment and the flags again on each call. With `file`, that file must still exist. */
  loadConfig(file?: string): LoadedConfig;
}

type Handler<Args extends unknown[]> = (context: CommandContext, ...args: Args) => Promise<number | void>;

/** Adapts a command's handler to commander. The handler returns the exit code; nothing means 0. STORE_FORBIDDEN is explained in terms of roles. */
export function action<Args extends unknown[]>(handler: Handler<Args>): (...given: unknown[]) => Promise<void> {
  return async (...given) => {
    const command = given.at(-1) as Command;
    const context = createContext(command);
    try {
      process.exitCode = (await handler(context, ...(given.slice(0, -2) as Args))) ?? 0;
    } catch (error) {
      if (!(error instanceof PlaneError) || error.code !== 'STORE_FORBIDDEN') throw error;
      const { explainRole } = await import('./explain-role.ts');
      throw explainRole(error, topOf(command), context.loadConfig().config);
    }
  };
}

/** The first command word after `sallyport`: `tokens` for `sallyport tokens create`. */
function topOf(command: Command): string {
  const { parent } = command;
  return parent === null || parent.parent === null ? command.name() : topOf(parent);
}

function createContext(command: Command): CommandContext {
  const options = command.optsWithGlobals<Record<string, unknown>>();
  setStoreFlags(storeFlagsOf(options));
  const terminal = createTerminal({ json: options['json'] === true, env: process.env });
  const flags = configFlags(command);
  if (typeof flags['redis.url'] === 'string' && /\/\/[^@/]*:[^@/]+@/.test(flags['redis.url'])) {
    terminal.warn('the password in --redis can be seen by every user of this machine; use SALLYPORT_REDIS_URL');
  }
  return {
    terminal,
    options,
    loadConfig: (file) =>
      loadConfig({
        env: process.env,
        cwd: process.cwd(),
        file: file ?? (options['config'] as string | undefined),
        flags,
        near: nearNames,
      }),
  };
}

function configFlags(command: Command): Record<string, unknown> {
  const flags: Record<string, unknown> = {};
  for (let at: Command | null = command; at !== null; at = at.parent) {
    for (const option of at.options) {
      if (option instanceof ConfigOption) flags[option.path] = at.getOptionValue(option.attributeName()) as unknown;
    }
  }
  return flags;
}
