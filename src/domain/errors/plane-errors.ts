import { entry, sentenceOf } from './error-entry.ts';
import { GATEWAY_ERRORS, TOKEN_ERRORS } from './gateway-errors.ts';

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
  STORE_REPLACED: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { expected: string; found: string }) =>
      `The store is not the one this process started with: expected ${d.expected}, found ${d.found}. It was adopted since, or flushed, or replaced by older data.`,
    fix: 'If an operator has adopted the store since, start this process again. Otherwise stop all workers and find out what happened to the data, then bring a backup back with sallyport store restore, or go on with what is there: sallyport store adopt',
  }),
  STORE_UNADOPTED: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { why: string }) => `The store may not be used before an operator has looked at it: ${d.why}.`,
    fix: 'See what was lost, and go on with what is there: sallyport store adopt',
  }),
  STORE_OVERWRITTEN: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { key: string; field: string; found: string; needed: string }) =>
      `The field ${d.field} of ${d.key} is ${d.found}, where Sallyport writes ${d.needed}. It was overwritten by hand.`,
    fix: 'As the administrator of Redis write the field again with HSET, or bring a backup back: sallyport store restore. Then find out whose Redis password was used.',
  }),
  STORE_MISSING: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { name: string }) =>
      `Nothing is stored under the name ${d.name}, and redis.create is false: a server that lost its data must not be taken for a new one.`,
    fix: 'If there was a store, bring a backup back: sallyport store restore. Otherwise make the store, once: sallyport store adopt',
  }),
  STORE_LOST: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { file: string; found: string; traces: string[] }) =>
      `${d.file} ${d.found}, and there was a store: its folder has ${d.traces.join(', ')}. A new store would have no policy, no revocations and no audit, so none is made.`,
    fix: 'Put the file back, or bring a backup back: sallyport store restore BACKUP, then sallyport store adopt. To begin with an empty store: sallyport store adopt',
  }),
  STORE_DAMAGED: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { file: string; problem: string }) => `${d.file} is damaged: ${d.problem}.`,
    fix: 'Stop its processes and move the file away, with the -wal and -journal files beside it. Then bring a backup back: sallyport store restore BACKUP, then sallyport store adopt',
  }),
  STORE_READ_ONLY: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { path: string; problem: string }) =>
      `The store cannot be opened: ${d.path} cannot be written (${d.problem}). Commands that only read need this too.`,
    fix: 'Make the folder of the store and the files in it writable for the user of this process, who must own the files. Or name another with --folder.',
  }),
  STORE_FOLDER_UNSAFE: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { path: string; problem: string; repair: string }) =>
      `The store is not opened, because other users could read it or put another in its place: ${d.path} ${d.problem}. ${d.repair}`,
    fix: 'Do what the message says. If others could write in the folder, first find out whether they did: bring a backup back if you are not sure.',
  }),
  STORE_LIBRARY: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { library: string; found: string }) =>
      `The server does not have the function library ${d.library} of this release (${d.found}), and this user may not load it.`,
    fix: 'As the administrator of the store: sallyport store upgrade',
  }),
  STORE_LOGIN: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { user: string; problem: string }) => `Redis refused the login as ${d.user}: ${d.problem}.`,
    fix: 'Compare redis.username and the password file with the users on the server. A process reads its password file at the start: after a change of the password, restart it.',
  }),
  STORE_FORBIDDEN: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { problem: string }) => `Redis refused a command, because the user lacks the right to it: ${d.problem}.`,
    fix: 'Log in as the user of the role that this needs: worker, gateway, operator for commands, admin for sallyport store. If it is that user, print its rights again with sallyport store acl and load them.',
  }),
  STORE_ROLE: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { user: string; expected: string; found: string; missing: string[] }) =>
      `The Redis user ${d.user} cannot do the work of the role ${d.expected}: it may not call ${d.missing.join(', ')}. Its rights look like those of ${d.found}.`,
    fix: 'Log in as the user of that role (redis.username and redis.passwordFile). If it is that user, its rights are those of an earlier release: print them with sallyport store acl and load them.',
  }),
  STORE_SENTINEL: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { problem: string }) => `The sentinels did not lead to a primary: ${d.problem}.`,
    fix: 'redis.sentinels names host and port of each sentinel (usually 26379, not the port of Redis); redis.sentinelName is the name after `sentinel monitor` in their configuration.',
  }),
  STORE_LANES: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { configured: number; found: number }) =>
      `The store was made with ${d.found} lanes; the configuration says ${d.configured}.`,
    fix: 'Keep the number of lanes of the store.',
  }),
  STORE_VERSION: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { found: string; known: string }) =>
      `The store has schema version ${d.found}; this release knows ${d.known}.`,
    fix: 'Use the release that made the store, or a newer one.',
  }),
  STORE_NOT_EMPTY: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { place: string }) =>
      `There is a store in ${d.place} already; a backup is restored into an empty place only.`,
    fix: 'Move what is there away, or restore under another name or folder.',
  }),
  BACKUP_FAILED: entry({
    stage: 'operate',
    retry: 'after-a-while',
    say: (d: { problem: string }) => `The backup was not made: ${d.problem}.`,
  }),
  BACKUP_INVALID: entry({
    stage: 'operate',
    retry: 'never',
    say: (d: { folder: string; problem: string }) => `${d.folder} cannot be restored: ${d.problem}.`,
    fix: 'Use another backup.',
  }),
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
  ...TOKEN_ERRORS,
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
    /** `problems`: each one names the member that is wrong, so that a form can show the problem next to that member. */
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
  HOOKS_INVALID: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { problems: string[] }) => `The hooks cannot be used: ${d.problems.join('; ')}.`,
    fix: 'See docs/hooks.md. Nothing is served without the hooks that are configured.',
  }),
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
  SERVICES_INVALID: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { problems: string[] }) => `The services cannot be used: ${d.problems.join('; ')}.`,
    fix: 'See docs/services.md. Nothing is served without the services that are configured.',
  }),
  SERVICE_FAILED: entry({
    stage: 'operate',
    retry: 'after-a-while',
    say: (d: { service: string; problem: string }) => `The service ${d.service} could not be started: ${d.problem}.`,
    fix: 'Look at what it needs, then start the worker again. Services that had started were stopped.',
  }),
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
