import { inOneLine } from '../../base/clean-text.ts';
import { shorten, startOf } from '../../base/cut-text.ts';

const MAX_CHARACTERS = 500;

/** Secrets that errors of HTTP clients and database drivers tend to quote. */
const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/(\/\/[^\s:/@]*:)[^\s@]+@/g, '$1***@'],
  [/\b(bearer|basic)\s+[\w.~+/=-]{6,}/gi, '$1 ***'],
  [
    /\b([\w-]*(?:password|passwd|secret|token|api[_-]?key|authorization)["']?\s*[:=]\s*)(?!bearer|basic)["']?[^\s"',;&]+/gi,
    '$1***',
  ],
];

/** Turns text of untrusted origin into one printable line of at most `maxCharacters` characters. */
export function oneLine(text: string, maxCharacters = MAX_CHARACTERS): string {
  // Cut first, so that a very long text is not searched from end to end.
  return shorten(inOneLine(startOf(text, maxCharacters * 4)), maxCharacters);
}

/** Describes why a hook failed, only for the operator's log. Accepts any thrown value and never throws itself. */
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

const PLACE = /([\w./:@%~+-]+:\d+:\d+)\)?$/;

/**
 * The type of an error and the place where it was thrown, without its message: the message could quote what the hook was shown. Never
 * throws.
 */
export function showCauseType(thrown: unknown): string {
  try {
    if (!(thrown instanceof Error)) return typeof thrown;
    const { name, message, stack } = thrown;
    const type = typeof name === 'string' && /^\w{1,64}$/.test(name) ? name : 'Error';
    const head = `${name}: ${message}\n`;
    // A message can look like a line of the stack, so only the text after the message is read.
    const [first = ''] =
      typeof stack === 'string' && stack.startsWith(head) ? stack.slice(head.length).split('\n') : [];
    const place = PLACE.exec(first.slice(0, 1000))?.[1];
    return oneLine(place === undefined ? type : `${type} at ${place}`);
  } catch {
    return 'something that cannot be read';
  }
}
