import { spawn } from 'node:child_process';

/**
 * Ends the process groups of commands when this process is killed and cannot do it itself: then the pipe to it closes. One for the
 * whole process, started with the first command. It is told numbers, never text of others.
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

let running: ProcessGuard | undefined;

export function processGuard(): ProcessGuard {
  return (running ??= startGuard());
}

function startGuard(): ProcessGuard {
  const guard = spawn('/bin/sh', ['-c', SCRIPT], {
    // A group of its own, or Ctrl-C would end it before it can do anything.
    detached: true,
    env: {},
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // Without it commands still end with their deadline.
  guard.on('error', () => {});
  guard.on('exit', () => (running = undefined));
  guard.stdin.on('error', () => {});
  // Nothing here keeps this process alive.
  guard.unref();
  (guard.stdin as unknown as { unref?: () => void }).unref?.();
  const tell = (sign: string, group: number): void =>
    void (guard.stdin.writable && guard.stdin.write(`${sign} ${group}\n`));
  return { add: (group) => tell('+', group), remove: (group) => tell('-', group) };
}
