import { entry } from './error-entry.ts';

/** Errors that end calls because of what happened to the store. */
export const STORE_CALL_ERRORS = {
  STORE_WENT_BACK: entry({
    stage: 'operate',
    kind: 'indeterminate',
    retry: 'never',
    say: (d: { tool: string }) =>
      `The store went back to an older copy in which ${d.tool} had not ended. It may have run since then. Check before you try again.`,
    fix: 'Find out what happened, then: sallyport calls resolve <id> --ran|--not-ran',
  }),
} as const;

/** Errors about the store as a whole: what is in it, which release it belongs to, where its copies are. */
export const STORE_PLANE_ERRORS = {
  STORE_REPLACED: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { expected: string; found: string }) =>
      `The store is not the one this process started with (incarnation ${d.expected}, now ${d.found}). It was adopted since, or flushed, or replaced by older data.`,
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
} as const;
