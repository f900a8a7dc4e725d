import { pathToFileURL } from 'node:url';
import { startOf } from '../../base/cut-text.ts';

const MAX_REASON = 400;
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}]+/gu;

/** Describes a value that a module threw, in one printable line for the operator. Accepts any value, also one with getters that throw. */
export function describeThrown(thrown: unknown, file: string, knownLine?: string): string {
  try {
    if (!(thrown instanceof Error) && !(typeof thrown === 'object' && thrown !== null && 'message' in thrown)) {
      return `Its import threw ${thrown === null ? 'null' : typeof thrown === 'string' ? `"${cut(thrown)}"` : `a ${typeof thrown}`}.`;
    }
    const { name, message, stack } = thrown as Error;
    if (name === 'ModuleProblem') return cut(message);
    const line = knownLine ?? lineIn(String(stack), file);
    return cut(`Its import threw ${String(name)}${line === undefined ? '' : ` at line ${line}`}: ${String(message)}`);
  } catch {
    return 'Its import threw something that cannot be read.';
  }
}

/** The line number of the first place in the stack that is in the module's own file. */
function lineIn(stack: string, file: string): string | undefined {
  for (const name of [pathToFileURL(file).href, file]) {
    const at = stack.indexOf(name);
    const line = at < 0 ? undefined : /^[^\s:]*:(\d+)/.exec(stack.slice(at + name.length))?.[1];
    if (line !== undefined) return line;
  }
  return undefined;
}

function cut(text: string): string {
  const line = text.split('\n', 1)[0]!.replaceAll(HIDDEN, ' ').trim();
  return line.length > MAX_REASON ? `${startOf(line, MAX_REASON)}…` : line;
}
