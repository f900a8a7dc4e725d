/** In the environment and in flags a list or group is its JSON. Undefined for what is none: the option then says what it expects. */
export function readJsonText(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
