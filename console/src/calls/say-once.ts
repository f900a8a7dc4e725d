import type { CallDetail } from '../api-types.ts';

/** Whether a shown sentence already contains this text. The audit keeps only the beginning of a long sentence. */
export function repeats(text: string, shown: readonly string[]): boolean {
  const beginning = text.replace(/(?:…|\.\.\.)$/u, '').trim();
  return shown.some((sentence) => sentence.includes(beginning));
}

/** Why a call did not end well, to be shown once. It comes from the outcome, or from the audit if the store no longer keeps the outcome. */
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
