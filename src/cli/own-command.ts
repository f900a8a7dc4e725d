import { existsSync } from 'node:fs';
import { basename, join, relative, sep } from 'node:path';
import { shellWord } from '../compose/shell-word.ts';

export { shellWord };

const BUILT = join('dist', 'cli', 'main.js');

/** How this program was started, as its user would type it again from here. */
export function ownCommand(script: string, cwd: string, exists: (file: string) => boolean = existsSync): string {
  if (basename(script) === 'sallyport')
    return script.includes(`${sep}node_modules${sep}`) ? 'npx sallyport' : 'sallyport';
  // In a clone: this one finds a Node that is new enough.
  const launcher = script.endsWith(`${sep}${BUILT}`) ? `${script.slice(0, -BUILT.length)}sallyport` : undefined;
  if (launcher === undefined || !exists(launcher)) return `node ${shellWord(relative(cwd, script))}`;
  const path = relative(cwd, launcher);
  return shellWord(path.includes(sep) ? path : `.${sep}${path}`);
}
