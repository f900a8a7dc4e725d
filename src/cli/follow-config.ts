import { nearNames } from '../base/near-names.ts';
import type { LoadedConfig } from '../config/load-config.ts';
import { readPolicyFile, type PolicyFile } from '../gate/policy/policy-file.ts';
import { watchConfig, type ConfigWatch } from '../config/watch-config.ts';
import type { CommandContext } from './command-context.ts';
import { describeFailure } from './describe-failure.ts';
import type { LevelledLog, LogLevel } from './levelled-log.ts';

export interface Following {
  readonly log: LevelledLog;
  readonly defaultLevel: LogLevel;
  /** Given only by `dev`, the only long-running command that writes the policy from a file. */
  readonly applyPolicy?: (file: PolicyFile) => Promise<{ readonly version: number; readonly changed: boolean }>;
}

/**
 * Watches the configuration file and the policy file. Applies the changes that a running
 * process can apply, and logs the options that need a restart.
 */
export async function followConfig(
  context: CommandContext,
  loaded: LoadedConfig,
  { log, defaultLevel, applyPolicy }: Following,
): Promise<ConfigWatch | undefined> {
  const policyFile = applyPolicy === undefined ? undefined : loaded.config.policyFile;
  const files = [loaded.file, policyFile].filter((file) => file !== undefined);
  if (files.length === 0) return undefined;
  const watch = watchConfig(files, loaded, {
    load: () => context.loadConfig(loaded.file),
    async onChange({ next, live, waiting }) {
      const { config } = next;
      const policy =
        applyPolicy === undefined || config.policyFile === undefined
          ? undefined
          : await applyPolicy(readPolicyFileFor(log, config.policyFile));
      log.level = config.log.level ?? defaultLevel;
      // Log these lines as warnings: the level `info` may just have been switched off.
      if (live.length > 0) log.warn({ options: live }, 'configuration reloaded');
      if (waiting.length > 0) log.warn({ options: waiting }, 'these options wait for a restart');
      if (policy?.changed === true) log.warn({ version: policy.version }, 'policy reloaded');
    },
    onError: (error) =>
      log.error({ problem: describeFailure(error).message }, 'the new file is not used; the old configuration stays'),
  });
  await watch.ready;
  return watch;
}

export function readPolicyFileFor(log: LevelledLog, path: string): PolicyFile {
  const file = readPolicyFile(path, nearNames);
  for (const warning of file.warnings)
    log.warn({ warning }, 'the policy file says something that is probably not meant');
  return file;
}
