import type { AdmissionLimits } from '../domain/ports/call-requests.ts';

const MIB = 1024 * 1024;

export const DEFAULT_ADMISSION: AdmissionLimits = Object.freeze({
  liveCalls: 100_000,
  liveBytes: 256 * MIB,
  retainedBytes: 1024 * MIB,
  subjectWindow: 64,
  subjectBacklog: 20_000,
  subjectPendingApprovals: 1000,
});

export const DEFAULT_RETENTION_MS = 24 * 60 * 60 * 1000;
