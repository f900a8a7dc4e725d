const MOST_CHARACTERS = 500;
/** Whatever could break the line, hide a part of it, or be read by a terminal; and what stands beside it. */
const UNPRINTABLE = /[\s\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu;

/** What errors of HTTP clients and drivers tend to quote. */
const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/(\/\/[^\s:/@]*:)[^\s@]+@/g, '$1***@'],
  [/\b(bearer|basic)\s+[\w.~+/=-]{6,}/gi, '$1 ***'],
  [
    /\b([\w-]*(?:password|passwd|secret|token|api[_-]?key|authorization)["']?\s*[:=]\s*)(?!bearer|basic)["']?[^\s"',;&]+/gi,
    '$1***',
  ],
];

/** Text that others wrote, on one line that can be printed, of at most so many characters. */
export function oneLine(text: string, mostCharacters = MOST_CHARACTERS): string {
  // Cut first: what is far too long shall not be searched from end to end.
  const line = text
    .slice(0, mostCharacters * 4)
    .replaceAll(UNPRINTABLE, ' ')
    .trim();
  return line.length > mostCharacters ? `${line.slice(0, mostCharacters - 1)}…` : line;
}

/** Why a hook failed, for the operator's log only. Anything can be thrown; this never throws itself. */
export function showCause(thrown: unknown): string {
  try {
    const text =
      thrown instanceof Error
        ? `${String(thrown.name)}: ${String(thrown.message)}`
        : `${typeof thrown}: ${String(thrown)}`;
    return oneLine(
      SECRETS.reduce((shown, [pattern, masked]) => shown.replaceAll(pattern, masked), text.slice(0, 8192)),
    );
  } catch {
    return 'something that cannot be read';
  }
}
