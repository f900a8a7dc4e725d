import { foldText, type FoldLimits } from '../fold-text.ts';

/** Longer arguments show only their beginning and their end, and must be expanded before they can be allowed. */
export const ARGUMENT_LIMITS: FoldLimits = { lines: 30, characters: 4000, tailLines: 6 };

export function isFolded(shown: string): boolean {
  return foldText(shown, ARGUMENT_LIMITS) !== undefined;
}
