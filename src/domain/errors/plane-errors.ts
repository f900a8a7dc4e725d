import { SEAL_ERRORS } from './seal-errors.ts';
import { entry } from './error-entry.ts';
import { sentenceOf } from './error-text.ts';
import { GATEWAY_ERRORS } from './gateway-errors.ts';
import { HOOK_PLANE_ERRORS } from './hook-errors.ts';
import { STORE_PLANE_ERRORS } from './store-errors.ts';
import { SERVICE_PLANE_ERRORS } from './service-errors.ts';
import { TOKEN_PLANE_ERRORS } from './token-errors.ts';

/** Errors of the plane itself. They are thrown, for the operator. */
export const PLANE_ERRORS = {
  STORE_UNAVAILABLE: entry({
    stage: 'operate',
    retry: 'after-a-while',
    say: (d: { problem: string }) => `The store cannot be reached: ${d.problem}.`,
    fix: 'Start the store, or correct its address. Then: sallyport doctor',
  }),
  STORE_UNSAFE: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { problems: string[] }) => `This Redis would lose calls: ${d.problems.join('; ')}.`,
    fix: 'Change the named settings. sallyport doctor shows each with its command.',
  }),
  ...STORE_PLANE_ERRORS,
  STORE_OWNED: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { file: string; pid: number }) => `${d.file} is in use by process ${d.pid}.`,
    fix: "Use connect('embedded'), which talks to the running process, or stop that process.",
  }),
  STORE_FULL: entry({
    stage: 'operate',
    retry: 'after-a-while',
    say: (d: { problem: string }) => `The store cannot write: ${d.problem}.`,
    fix: 'Free disk space or memory.',
  }),
  STORE_FAILED: entry({
    stage: 'operate',
    retry: 'after-a-while',
    say: (d: { problem: string }) => `The store answered with an error: ${d.problem}.`,
    fix: 'See sallyport doctor and the log of the store.',
  }),
  CALL_UNKNOWN: entry({
    stage: 'answer',
    retry: 'never',
    say: (d: { callId: string }) => `There is no call ${d.callId}, or it is not yours, or its retention has ended.`,
  }),
  ID_AMBIGUOUS: entry({
    stage: 'answer',
    retry: 'never',
    say: (d: { asked: string; ids: string[] }) =>
      `Several ids are like ${d.asked}: ${d.ids.join(', ')}. Nothing was done.`,
    fix: 'Give more of the id, or all of it.',
  }),
  REDIRECT_NOWHERE: entry({
    stage: 'answer',
    retry: 'never',
    say: (d: { problem: string }) =>
      `The outcome cannot be redirected: the session has no ${d.problem}, and none was named.`,
    fix: 'Open the session with platform and channel, or name them in the redirect.',
  }),
  CALL_NOT_INDETERMINATE: entry({
    stage: 'operate',
    retry: 'never',
    say: (d: { callId: string; state: string }) =>
      `Call ${d.callId} is ${d.state}; only an indeterminate call can be resolved.`,
  }),
  ...TOKEN_PLANE_ERRORS,
  APPROVAL_UNKNOWN: entry({
    stage: 'gate',
    retry: 'never',
    say: (d: { approval: string }) =>
      `There is no approval ${d.approval} that you may see. It may be the start of several ids, or of an approval that is no longer kept.`,
    fix: 'List them with: sallyport approvals list',
  }),
  APPROVAL_INVALID: entry({
    stage: 'gate',
    retry: 'after-the-fix',
    /** `problems`: each one names the place of the member that is wrong, so that a form can show it there. */
    say: (d: { problem: string; problems?: string[] }) => `The approval was not understood: ${d.problem}.`,
  }),
  GRANT_UNKNOWN: entry({
    stage: 'gate',
    retry: 'never',
    say: (d: { grant: string }) => `There is no grant ${d.grant}, or it has expired.`,
    fix: 'List them with: sallyport grants list',
  }),
  POLICY_CONFLICT: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { expected: number; found: number }) =>
      `The policy is now version ${d.found}; your change was made for version ${d.expected}.`,
    fix: 'Read it again with sallyport policy show, and repeat the change.',
  }),
  POLICY_INVALID: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { problems: string[] }) => `The policy was not accepted: ${sentenceOf(d.problems)}`,
  }),
  SESSION_INVALID: entry({
    stage: 'operate',
    retry: 'never',
    say: (d: { problem: string }) => `The session cannot be used: ${d.problem}.`,
  }),
  RUNS_FULL: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { limit: number }) => `The session has ${d.limit} open runs, and gets no more of them.`,
    fix: 'End runs that are over with endRun, or open another session.',
  }),
  CONFIG_INVALID: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { problems: string[] }) => `The configuration cannot be used: ${sentenceOf(d.problems)}`,
    fix: 'See docs/config.md.',
  }),
  MODULES_MISSING: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { path: string; problem: string }) => `No modules can be loaded from ${d.path}: ${d.problem}.`,
    fix: 'Give a folder of modules, or a manifest.',
  }),
  SETUP_DUPLICATE: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { path: string; setup: string; entries: string[] }) =>
      `${d.path} sets up ${d.setup} more than once, in ${d.entries.join(' and ')}.`,
    fix: 'Give each setup an id of its own.',
  }),
  ...HOOK_PLANE_ERRORS,
  AUDIT_SINK_MISSING: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: () => 'This store keeps audit records only until a sink has them, and none is configured.',
    fix: 'A command takes the sink from the configuration of the gateway: --config FILE. A gateway needs audit.sink in it.',
  }),
  AUDIT_SINK_UNAVAILABLE: entry({
    stage: 'operate',
    retry: 'after-a-while',
    say: (d: { problem: string }) => `The audit sink cannot be used: ${d.problem}.`,
    fix: 'Start it, or correct audit.postgres or audit.file.',
  }),
  AUDIT_NO_GAP: entry({
    stage: 'operate',
    retry: 'never',
    say: (d: { lane: number }) => `No drain misses records of lane ${d.lane}.`,
    fix: 'See what is wrong with: sallyport doctor. Only a running gateway finds a gap.',
  }),
  AUDIT_KEYS_UNSAFE: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { file: string; problem: string }) =>
      `The file ${d.file} of the audit's keys cannot be used: ${d.problem}.`,
    fix: 'Make it readable by its owner only: chmod 600 FILE. A new one: sallyport audit rotate-key',
  }),
  AUDIT_KEYS_FOREIGN: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { file: string; owner: number; user: number }) =>
      `${d.file}, which has the audit's keys, belongs to the user ${d.owner}, and this process runs as the user ${d.user}.`,
    fix: 'Run the command as that user. docs/audit.md has the command for the unit of the gateway.',
  }),
  AUDIT_TRUSTED_KEYS_MISSING: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { folder: string }) => `audit.trustedKeys names ${d.folder}, and there is no such folder.`,
    fix: 'Make the folder, or correct audit.trustedKeys.',
  }),
  AUDIT_WENT_BACK: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { problem: string }) => `Nothing is signed, because statements of the audit are gone: ${d.problem}.`,
    fix: 'Find out who put an older copy back or deleted them. After a restore of your own: sallyport audit accept-rollback',
  }),
  AUDIT_CHAIN_CHANGED: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { lane: number; sequence: number }) =>
      `Nothing is signed, because records were changed after they were signed: record ${d.sequence} of lane ${d.lane} is another one now.`,
    fix: 'Look at what was changed: sallyport audit verify. Export what is there, then find out who changed the sink.',
  }),
  AUDIT_NOT_IN_ORDER: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { problem: string }) => `No audit record is deleted, because the trail is not in order: ${d.problem}.`,
    fix: 'Look at it before it is gone: sallyport audit verify. Export what is there, then find out who changed the sink.',
  }),
  ...SEAL_ERRORS,
  ...SERVICE_PLANE_ERRORS,
  ...GATEWAY_ERRORS,
  CLIENT_CLOSED: entry({
    stage: 'accept',
    retry: 'never',
    say: () => 'The client was closed.',
  }),
  INTERNAL: entry({
    stage: 'operate',
    retry: 'never',
    say: (d: { problem: string }) => `Something is wrong in Sallyport itself: ${d.problem}.`,
    fix: 'Please report it.',
  }),
} as const;
