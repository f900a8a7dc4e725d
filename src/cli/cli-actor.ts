import { systemUser } from '../base/system-user.ts';
import type { Actor, Administered } from '../domain/identity/actor.ts';
import type { CommandContext } from './command-context.ts';
import { SingleOption } from './single-option.ts';

/** Names the operating system user who runs the command. The name proves nothing: a user who can open the store could write any other name. */
export function cliActor(): Actor {
  return { by: `operator ${systemUser()}`, via: 'cli' };
}

export function commentOption(): SingleOption {
  return new SingleOption('--comment <text>', 'why; goes into the audit record');
}

/** Who runs the command and why, for the audit. */
export function administeredBy({ options }: CommandContext): Administered {
  const { comment } = options as { comment?: string };
  return { actor: cliActor(), ...(comment === undefined ? {} : { comment }) };
}
