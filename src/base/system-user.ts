import { userInfo } from 'node:os';

/** The operating system user who runs this process. A container may run under a user number that has no name. */
export function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
