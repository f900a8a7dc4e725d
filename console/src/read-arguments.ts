export type JsonRecord = Readonly<Record<string, unknown>>;

export type ReadArguments =
  | { readonly kind: 'valid'; readonly value: JsonRecord; readonly normal: string }
  | { readonly kind: 'invalid'; readonly problem: string };

/** Parses a JSON object that a person wrote. `normal` is what will be sent, in the order in which arguments are shown. */
export function readArguments(text: string): ReadArguments {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { kind: 'invalid', problem: error instanceof Error ? error.message : 'This is not JSON.' };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { kind: 'invalid', problem: 'Arguments are a JSON object: { … }.' };
  }
  return { kind: 'valid', value: value as JsonRecord, normal: JSON.stringify(sortKeys(value), undefined, 2) };
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([key, member]) => [key, sortKeys(member)]));
}
