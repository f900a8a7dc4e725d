/** Pretty, if it is the JSON it should be. */
export function layOutJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
