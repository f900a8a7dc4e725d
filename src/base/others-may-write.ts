import type { Stats } from 'node:fs';

/** Bits of the mode with which all users may write, and with which the group may write too. */
export const ALL_MAY_WRITE = 0o002;
export const GROUP_MAY_WRITE = 0o020;

/**
 * Says why another user than this one and root can change a file or folder; undefined if none can. `rights` are the bits of the mode that
 * must not be set. Systems without user ids are not checked.
 */
export function othersMayWrite(facts: Pick<Stats, 'uid' | 'mode'>, rights: number): 'owner' | 'mode' | undefined {
  const own = process.geteuid?.();
  if (own === undefined) return undefined;
  if (facts.uid !== own && facts.uid !== 0) return 'owner';
  return (facts.mode & rights) === 0 ? undefined : 'mode';
}
