/** Escapes one name for a JSON pointer (RFC 6901). */
export function escapeStep(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

export function unescapeStep(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** The unescaped names in a JSON pointer (RFC 6901). Empty for the whole value. */
export function stepsOf(pointer: string): string[] {
  return pointer.split('/').slice(1).map(unescapeStep);
}
