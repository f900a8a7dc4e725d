import { ofText, type Judge, type Judgement } from './judgement.ts';

/** A path without `.`, `..` and repeated slashes. By its text only: where links lead is known to the tool that opens it. */
interface Place {
  readonly absolute: boolean;
  readonly parts: readonly string[];
}

const SLASH = /\//;
const BOTH_SLASHES = /[/\\]/;

/**
 * Undefined where the text does not say which place it means: nothing, a NUL (C code stops reading there), a home folder, a drive
 * or a scheme before a colon.
 */
function readPlace(text: string, separator: RegExp): Place | undefined {
  if (text === '' || text.includes('\0')) return undefined;
  const written = text.split(separator);
  const absolute = written[0] === '';
  if (!absolute && (written[0]!.startsWith('~') || written[0]!.includes(':'))) return undefined;
  const parts: string[] = [];
  for (const part of written) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.length > 0 && parts.at(-1) !== '..') parts.pop();
    else if (!absolute) parts.push(part);
  }
  return { absolute, parts };
}

/** A folder as a rule names it; undefined for a text that is none or that leads out of where it starts. */
export function readRoot(text: string): Place | undefined {
  const isPlain = !text.includes('\\') && !text.split('/').includes('..');
  return isPlain ? readPlace(text, SLASH) : undefined;
}

export function isBelow({ absolute, parts }: Place, root: Place): boolean {
  return absolute === root.absolute && root.parts.every((part, index) => parts[index] === part);
}

/** A relative path and an absolute root, or the other way round, meet only in the tool's working folder, which nobody knows here. */
function judgePlace(place: Place | undefined, roots: readonly Place[]): Judgement {
  if (place === undefined) return 'unclear';
  const leadsOut = place.parts[0] === '..';
  if (!leadsOut && roots.some((root) => isBelow(place, root))) return 'holds';
  return !leadsOut && roots.every(({ absolute }) => absolute === place.absolute) ? 'fails' : 'unclear';
}

/** The path is one of these folders or below it. Throws on a root that cannot be used. */
export function matchRoot(entries: readonly string[]): Judge {
  const roots = entries.map((entry) => {
    const root = readRoot(entry);
    if (root === undefined) throw new RangeError('not a folder');
    return root;
  });
  return ofText((text) => {
    const judgement = judgePlace(readPlace(text, SLASH), roots);
    if (!text.includes('\\')) return judgement;
    // A backslash separates folders on some systems and is a letter on others: both must agree.
    return judgePlace(readPlace(text, BOTH_SLASHES), roots) === judgement ? judgement : 'unclear';
  });
}
