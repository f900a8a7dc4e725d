interface FoundWord {
  readonly line: number;
  readonly found: string;
  readonly use: string;
}

export function findWords(text: string, isLua?: boolean): readonly FoundWord[];
export function findWordsInTitles(text: string): readonly FoundWord[];
