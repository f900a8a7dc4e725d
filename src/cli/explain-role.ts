import type { Config } from '../config/config-schema.ts';
import type { PlaneError } from '../domain/errors/errors.ts';
import { ROLES } from '../stores/redis/acl-roles.ts';
import { CommandFailure } from './command-failure.ts';
import { EXIT } from './exit-codes.ts';

/** The Redis role that a command needs. `doctor` and `workers` can also run with the role `monitor`. */
function roleFor(command: string): (typeof ROLES)[number] {
  if (command === 'store') return 'admin';
  return command === 'worker' || command === 'gateway' ? command : 'operator';
}

/**
 * Explains in terms of roles why Redis refused a command. Names the role that the login has, derived from its user name, and the role that
 * the command needs.
 */
export function explainRole(error: PlaneError, command: string, config: Config): CommandFailure {
  const { username = 'default', name } = config.redis;
  const role = ROLES.find((candidate) => username === `${name}-${candidate}`);
  const needed = roleFor(command);
  const user = role === undefined ? username : `${username}, the role ${role}`;
  const message = `${error.message} You are logged in as ${user}; this command needs the role ${needed}.`;
  const fix =
    role === needed
      ? 'Its rights are those of an earlier release: print them with sallyport store acl, and load them.'
      : `Log in as ${name}-${needed}: SALLYPORT_REDIS_USERNAME and SALLYPORT_REDIS_PASSWORD_FILE.`;
  return new CommandFailure(error.code, EXIT.auth, message, fix, error);
}
