/** Kills a process group: its leader and everything that the leader started. */
export function killGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // No process is left in the group.
  }
}
