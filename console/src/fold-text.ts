export interface FoldLimits {
  readonly lines: number;
  readonly characters: number;
  readonly tailLines: number;
}

const FOLD_LIMITS: FoldLimits = { lines: 24, characters: 3000, tailLines: 5 };

export interface FoldedText {
  readonly head: string;
  readonly tail: string;
  /** How much is left out between head and tail, e.g. `12 lines`. */
  readonly hidden: string;
}

/** The beginning and the end of a long text. Undefined if the whole text is short enough to be shown. */
export function foldText(text: string, limits: FoldLimits = FOLD_LIMITS): FoldedText | undefined {
  const lines = text.split('\n');
  if (lines.length <= limits.lines && text.length <= limits.characters) return undefined;
  if (lines.length > limits.lines) {
    const head = lines.slice(0, limits.lines - limits.tailLines).join('\n');
    const tail = lines.slice(-limits.tailLines).join('\n');
    const halves = Math.floor(limits.characters / 2);
    if (head.length <= halves && tail.length <= halves) {
      return { head, tail, hidden: `${lines.length - limits.lines} lines` };
    }
  }
  return foldCharacters(text, limits);
}

/** Folds a text with few but long lines. Never cuts a character in two. */
function foldCharacters(text: string, { characters }: FoldLimits): FoldedText {
  const half = Math.floor(characters / 2);
  const head = text.slice(0, text.codePointAt(half - 1)! > 0xff_ff ? half - 1 : half);
  const isCut = /^[\uDC00-\uDFFF]/.test(text.slice(-half));
  const tail = text.slice(isCut ? -half + 1 : -half);
  return { head, tail, hidden: `${text.length - head.length - tail.length} characters` };
}
