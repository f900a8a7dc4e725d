/** Indents a JSON text. A text that is not JSON is returned unchanged. */
export function layOutJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
