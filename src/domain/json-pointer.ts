/** One name as it stands in a JSON pointer, RFC 6901. */
export function escapeStep(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

export function unescapeStep(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** The names in a JSON pointer, RFC 6901. None for the whole value. */
export function stepsOf(pointer: string): string[] {
  return pointer.split('/').slice(1).map(unescapeStep);
}
