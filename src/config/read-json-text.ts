/**
 * Reads a list or group that is given as JSON, in the environment or in a flag. Undefined if it is not JSON; the option then reports what
 * it expects.
 */
export function readJsonText(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
