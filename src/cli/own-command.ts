import { basename, relative, sep } from 'node:path';
import { shellWord } from '../compose/shell-word.ts';

export { shellWord };

/** How this program was started, as its user would type it again from here. */
export function ownCommand(script: string, cwd: string): string {
  if (basename(script) !== 'sallyport') return `node ${shellWord(relative(cwd, script))}`;
  return script.includes(`${sep}node_modules${sep}`) ? 'npx sallyport' : 'sallyport';
}
