import { entry } from './error-entry.ts';

/** Errors about arguments that are sealed to an auditor. */
export const SEAL_ERRORS = {
  AUDITOR_KEY_INVALID: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { file: string; problem: string }) => `The auditor's key ${d.file} cannot be used: ${d.problem}.`,
    fix: 'Workers need the public half (audit.auditorKeyFile), audit open the private one. A new pair: sallyport audit auditor-key --out FOLDER',
  }),
  AUDIT_NOT_SEALED: entry({
    stage: 'operate',
    retry: 'never',
    say: (d: { call: string; why: string }) => `There are no sealed arguments of call ${d.call}: ${d.why}.`,
    fix: 'Only calls of privileged tools are sealed, and only by workers with audit.auditorKeyFile. What was erased is gone.',
  }),
  AUDIT_SEAL_KEY: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { call: string; sealedTo: string; given: string }) =>
      `The arguments of call ${d.call} are sealed to the key ${d.sealedTo}, and this is ${d.given}.`,
    fix: 'Use the private key of that pair.',
  }),
  AUDIT_SEAL_BROKEN: entry({
    stage: 'operate',
    retry: 'never',
    say: (d: { call: string; problem: string }) =>
      `The sealed arguments of call ${d.call} cannot be opened: ${d.problem}.`,
    fix: 'The record was changed after it was written. See sallyport audit verify.',
  }),
} as const;
