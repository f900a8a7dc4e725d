import { ofText, type Compare, type ComparisonResult } from './comparison-result.ts';

/**
 * A path without `.`, `..` and repeated slashes. Only the text is considered: only the tool that opens the path can know where symbolic
 * links lead.
 */
interface Place {
  readonly absolute: boolean;
  readonly parts: readonly string[];
}

const SLASH = /\//;
const BOTH_SLASHES = /[/\\]/;

/**
 * Parses a path. Undefined if the text does not show which place it means: it is empty, contains a NUL (C code stops reading there), begins
 * with `~`, which a shell replaces by a home folder, or begins with a drive or scheme and a colon.
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

/** Parses a folder that a rule names. Undefined if the text contains `..` or a backslash, or does not show which folder it means. */
export function readRoot(text: string): Place | undefined {
  const isPlain = !text.includes('\\') && !text.split('/').includes('..');
  return isPlain ? readPlace(text, SLASH) : undefined;
}

export function isBelow({ absolute, parts }: Place, root: Place): boolean {
  return absolute === root.absolute && root.parts.every((part, index) => parts[index] === part);
}

/**
 * Judges whether a path is below one of the roots. A relative path and an absolute root (or the reverse) can only be compared if the tool's
 * working folder is known. It is not known here, so the result is `unclear`.
 */
function judgePlace(place: Place | undefined, roots: readonly Place[]): ComparisonResult {
  if (place === undefined) return 'unclear';
  const leadsOut = place.parts[0] === '..';
  if (!leadsOut && roots.some((root) => isBelow(place, root))) return 'holds';
  return !leadsOut && roots.every(({ absolute }) => absolute === place.absolute) ? 'fails' : 'unclear';
}

/** Whether the path is one of these folders or below one. Throws if a root cannot be used. */
export function matchRoot(entries: readonly string[]): Compare {
  const roots = entries.map((entry) => {
    const root = readRoot(entry);
    if (root === undefined) throw new RangeError('not a folder');
    return root;
  });
  return ofText((text) => {
    const judgement = judgePlace(readPlace(text, SLASH), roots);
    if (!text.includes('\\')) return judgement;
    // A backslash separates folders on some systems and is an ordinary character on others, so both readings must agree.
    return judgePlace(readPlace(text, BOTH_SLASHES), roots) === judgement ? judgement : 'unclear';
  });
}
