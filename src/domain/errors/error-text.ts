/** The message of an error; any other thrown value as text. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The problems as the end of a sentence. A problem may end with a question, such as `did you mean roles?`. */
export function sentenceOf(problems: readonly string[]): string {
  const text = problems.join('; ');
  return /[.?]$/.test(text) ? text : `${text}.`;
}
