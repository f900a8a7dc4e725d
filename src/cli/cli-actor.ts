import { userInfo } from 'node:os';
import type { Actor, Administered } from '../domain/actor.ts';
import type { CommandContext } from './command-context.ts';
import { SingleOption } from './single-option.ts';

/** A container may run under a number that has no name. */
export function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** The user of the operating system who runs the command. A user who can open the store could say anything else. */
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
