/** What an error says, in one line. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
