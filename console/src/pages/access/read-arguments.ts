export type ReadArguments =
  | { readonly kind: 'none' }
  | { readonly kind: 'object'; readonly value: Readonly<Record<string, unknown>> }
  | { readonly kind: 'bad'; readonly problem: string };

/** What was typed as arguments. Empty means: none given, so the rules about arguments stay open. */
export function readArguments(text: string): ReadArguments {
  if (text.trim() === '') return { kind: 'none' };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { kind: 'bad', problem: `This is not JSON: ${error instanceof Error ? error.message : 'unreadable'}` };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { kind: 'bad', problem: 'Arguments are a JSON object, such as {"to": "ada"}.' };
  }
  return { kind: 'object', value: value as Record<string, unknown> };
}
