import type { CallDetail } from '../api-types.ts';

/** Whether a sentence that is shown says this already. The audit keeps only the beginning of a long one. */
export function repeats(text: string, shown: readonly string[]): boolean {
  const beginning = text.replace(/(?:…|\.\.\.)$/u, '').trim();
  return shown.some((sentence) => sentence.includes(beginning));
}

/** Why a call did not end well, once: from its outcome, or from the audit when the store no longer keeps the outcome. */
export interface Reason {
  readonly message: string;
  readonly fix?: string | undefined;
  readonly code?: string | undefined;
}

export function reasonOf({ call, outcome, audit }: CallDetail): Reason | undefined {
  if (outcome?.error !== undefined) return outcome.error;
  if (outcome !== undefined || call.outcome === 'ok') return undefined;
  const detail = audit.findLast((record) => record.outcome !== undefined)?.detail;
  return detail === undefined ? undefined : { message: detail, code: call.code };
}
