export function findWords(
  text: string,
  isLua?: boolean,
): { readonly line: number; readonly found: string; readonly use: string }[];
