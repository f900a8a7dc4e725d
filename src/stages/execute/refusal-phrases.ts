/** Closed lists. They are matched against whole fields, or within the error fields of a result that reports failure. */
export const FAILURE_STATUSES: readonly string[] = ['error', 'failed', 'failure', 'unauthorized', 'unauthorised'];

export const DENIAL_STATUSES: readonly string[] = [
  'denied',
  'forbidden',
  'permission denied',
  'access denied',
  'not permitted',
  'not allowed',
];

const REFUSAL_PHRASES: readonly RegExp[] = [
  /\bpermission denied\b/,
  /\baccess denied\b/,
  /\bdoes not have the [^.]{1,100}?\b(?:privilege|permission|role)\b/,
  /\b(?:is|are|was|were) not (?:permitted|allowed|authorized|authorised) to\b/,
  /\b(?:insufficient|missing) (?:permissions?|privileges?)\b/,
];

/** An upstream that rejects the tool's own credentials is not a denial for the caller. */
const UPSTREAM_MARKS = /\b(?:401|403|407|upstream|unauthori[sz]ed)\b/;

/** `PERMISSION_DENIED`, `permission-denied` and `Permission denied` normalise to the same text. */
export function normalise(text: string): string {
  return text
    .slice(0, 2000)
    .toLowerCase()
    .replace(/[_\s-]+/g, ' ')
    .trim();
}

export function saysRefusal(errorText: string): boolean {
  const text = normalise(errorText);
  if (DENIAL_STATUSES.includes(text)) return true;
  return !UPSTREAM_MARKS.test(text) && REFUSAL_PHRASES.some((phrase) => phrase.test(text));
}
