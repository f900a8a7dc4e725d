import { startOf } from './cut-text.ts';

/** Max length of the arguments shown in a list: enough to recognise a call. */
export const PREVIEW_CHARACTERS = 1000;

/**
 * The beginning of rendered arguments, and how many characters are left out. It ends before a secret's mark that would be cut in two: half
 * a mark could be mistaken for text of the arguments.
 */
export function previewOf(shown: string): { readonly text: string; readonly cut: number } {
  if (shown.length <= PREVIEW_CHARACTERS) return { text: shown, cut: 0 };
  const start = startOf(shown, PREVIEW_CHARACTERS);
  const mark = start.lastIndexOf('[secret');
  const text = mark >= 0 && !start.includes(']', mark) ? start.slice(0, mark) : start;
  return { text, cut: shown.length - text.length };
}
