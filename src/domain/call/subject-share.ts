/** Resources of which one subject may use only a part, so that some are left for other subjects. */
export const SUBJECT_SHARES = ['liveBytes', 'parkedBytes', 'retainedBytes', 'pendingApprovals'] as const;
export type SubjectShare = (typeof SUBJECT_SHARES)[number];

export type SubjectLimits = Readonly<Record<SubjectShare, number>>;

/** A subject has reached one of its shares. `retryAfterMs` is absent if it is not known when there will be room. */
export interface ShareFull {
  readonly kind: 'share-full';
  readonly share: SubjectShare;
  readonly limit: number;
  readonly retryAfterMs?: number;
}

/** The limit of a lane, or of one call, that was reached. */
export const OVERLOADED_BY = [
  'calls',
  'bytes of calls',
  'bytes of outcomes',
  'calls of this subject',
  'waiters of this call',
  'the store cannot write now',
  'audit',
] as const;
export type OverloadedBy = (typeof OVERLOADED_BY)[number];

/** Min bytes of a share, or the whole limit if that is smaller, so that one large call always fits. */
const MIN_SHARE_BYTES = 4 * 1024 * 1024;
const SHARE = 4;
const DEFAULT_PENDING_APPROVALS = 1000;

/** The limits that shares are computed from. The field names are those of the admission limits. */
export interface ShareSettings {
  readonly liveBytes: number;
  readonly retainedBytes: number;
  readonly subjectLiveBytes?: number | undefined;
  readonly subjectParkedBytes?: number | undefined;
  readonly subjectRetainedBytes?: number | undefined;
  readonly subjectPendingApprovals?: number | undefined;
}

/**
 * The shares of one subject. By default, a quarter of the live bytes and a quarter of the retained bytes. Parked calls may take half of the
 * live share: they can wait for days, and the subject's other calls need room meanwhile.
 */
export function subjectShares(settings: ShareSettings): SubjectLimits {
  const liveBytes = settings.subjectLiveBytes ?? partOf(settings.liveBytes, SHARE);
  return {
    liveBytes,
    parkedBytes: settings.subjectParkedBytes ?? partOf(liveBytes, 2),
    retainedBytes: settings.subjectRetainedBytes ?? partOf(settings.retainedBytes, SHARE),
    pendingApprovals: settings.subjectPendingApprovals ?? DEFAULT_PENDING_APPROVALS,
  };
}

function partOf(limit: number, divisor: number): number {
  return Math.max(Math.floor(limit / divisor), Math.min(limit, MIN_SHARE_BYTES));
}
