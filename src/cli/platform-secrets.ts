import type { Config } from '../config/config-schema.ts';
import { CommandFailure } from './command-failure.ts';
import { EXIT } from './exit-codes.ts';
import { readSecretFile } from './read-secret-file.ts';

/** The secret of each platform, by platform name. It is read from the environment variable or the file that the configuration names. */
export function platformSecretsOf({ platforms = {} }: Pick<Config, 'platforms'>): Record<string, string> {
  const secrets: Record<string, string> = {};
  for (const [name, { secretEnv, secretFile }] of Object.entries(platforms)) {
    if (secretFile !== undefined) secrets[name] = readSecretFile(secretFile).trim();
    if (secretEnv === undefined) continue;
    const found = process.env[secretEnv];
    if (found === undefined || found === '') {
      const problem = `The secret of platform ${name} is missing: ${secretEnv} is not set.`;
      throw new CommandFailure('CONFIG_INVALID', EXIT.config, problem, `Set ${secretEnv} in the environment.`);
    }
    secrets[name] = found;
  }
  return secrets;
}
