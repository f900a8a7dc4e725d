import { spawn } from 'node:child_process';

/**
 * A shell process that kills the process groups of commands when this process was killed, and so cannot kill them itself. The guard notices
 * that its input pipe was closed. One guard serves the whole process; it starts with the first command. Its input contains only numbers of
 * groups, never text that comes from others.
 */
export interface ProcessGuard {
  add(group: number): void;
  remove(group: number): void;
}

const SCRIPT = `groups=
while read -r sign group; do
  case $sign in
    +) groups="$groups $group" ;;
    -) kept=; for each in $groups; do [ "$each" = "$group" ] || kept="$kept $each"; done; groups=$kept ;;
  esac
done
for each in $groups; do kill -s KILL -- "-$each" 2>/dev/null; done`;

/** The guard of this process, until it exits. */
let running: ProcessGuard | undefined;

export function processGuard(): ProcessGuard {
  return (running ??= startGuard());
}

function startGuard(): ProcessGuard {
  const guard = spawn('/bin/sh', ['-c', SCRIPT], {
    // The guard has its own process group; otherwise Ctrl-C would end it before it can kill the commands.
    detached: true,
    env: {},
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // If the guard cannot start, commands still end at their timeout.
  guard.on('error', () => {});
  guard.on('exit', () => (running = undefined));
  guard.stdin.on('error', () => {});
  // Neither the guard nor its pipe keeps this process alive.
  guard.unref();
  (guard.stdin as unknown as { unref?: () => void }).unref?.();
  const send = (sign: string, group: number): void =>
    void (guard.stdin.writable && guard.stdin.write(`${sign} ${group}\n`));
  return { add: (group) => send('+', group), remove: (group) => send('-', group) };
}
