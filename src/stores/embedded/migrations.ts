import { AUDIT_TABLES, NUMBER_STATEMENTS } from '../sqlite/audit/schema.ts';
import { chainOldAudit } from './chain-old-audit.ts';
import type { Database } from '../sqlite/database.ts';

/** Entry n migrates a file from schema version n to n + 1. Released entries are never changed. */
export const MIGRATIONS: readonly (string | ((database: Database) => void))[] = [
  `
  CREATE TABLE incarnation (id TEXT NOT NULL, lanes INTEGER NOT NULL) STRICT;

  CREATE TABLE lane (
    lane INTEGER PRIMARY KEY,
    epoch INTEGER NOT NULL,
    cancelSequence INTEGER NOT NULL,
    entrySequence INTEGER NOT NULL,
    replySequence INTEGER NOT NULL,
    auditSequence INTEGER NOT NULL,
    retainedBytes INTEGER NOT NULL,
    clock INTEGER NOT NULL
  ) STRICT;
  INSERT INTO lane VALUES (0, 1, 0, 0, 0, 0, 0, 0);

  CREATE TABLE session (
    id TEXT PRIMARY KEY,
    scope TEXT NOT NULL,
    identity TEXT NOT NULL,
    tokenHash BLOB NOT NULL,
    openedAt INTEGER NOT NULL,
    expiresAt INTEGER NOT NULL,
    idleMs INTEGER NOT NULL,
    lastSeenAt INTEGER NOT NULL,
    revoked INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE run (session TEXT NOT NULL, run TEXT NOT NULL, PRIMARY KEY (session, run)) STRICT, WITHOUT ROWID;

  -- base + deliveries is the fence. entryId is the place in the pool's queue; without one the call waits in its
  -- subject's backlog, is parked, or is settled. bytes are the envelope's, and once settled the outcome's.
  CREATE TABLE call (
    seq INTEGER PRIMARY KEY,
    keyId TEXT NOT NULL,
    generation INTEGER NOT NULL,
    state TEXT NOT NULL,
    scope TEXT NOT NULL,
    session TEXT NOT NULL,
    run TEXT NOT NULL,
    tool TEXT NOT NULL,
    pool TEXT NOT NULL,
    bodyDigest TEXT NOT NULL,
    identity TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    sessionExpiresAt INTEGER NOT NULL,
    acceptedAt INTEGER NOT NULL,
    deadline INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    waiters TEXT NOT NULL,
    serial INTEGER NOT NULL,
    slot TEXT,
    slotWindow INTEGER NOT NULL,
    holdsSlot INTEGER NOT NULL,
    entryId INTEGER,
    owner TEXT,
    renewedAt INTEGER,
    base INTEGER NOT NULL DEFAULT 0,
    deliveries INTEGER NOT NULL DEFAULT 0,
    starts INTEGER NOT NULL DEFAULT 0,
    startFence INTEGER,
    effect TEXT,
    cancelRequested INTEGER NOT NULL DEFAULT 0,
    handedBack INTEGER NOT NULL DEFAULT 0,
    settledAt INTEGER,
    keepUntil INTEGER,
    releaseKey INTEGER NOT NULL DEFAULT 0,
    resolution TEXT,
    UNIQUE (keyId, generation)
  ) STRICT;
  CREATE INDEX callQueue ON call (pool, entryId) WHERE entryId IS NOT NULL AND owner IS NULL;
  CREATE INDEX callLease ON call (pool, renewedAt) WHERE entryId IS NOT NULL AND owner IS NOT NULL;
  CREATE INDEX callBacklog ON call (slot, seq) WHERE state = 'queued' AND entryId IS NULL;
  CREATE INDEX callDeadline ON call (deadline) WHERE state <> 'settled';
  CREATE INDEX callRetention ON call (keepUntil) WHERE state = 'settled';
  CREATE INDEX callParked ON call (session) WHERE state = 'parked';

  -- Apart from the call, so that a renewal or a start does not rewrite a large row.
  CREATE TABLE body (seq INTEGER PRIMARY KEY, envelope BLOB NOT NULL, resumedWith BLOB) STRICT;
  CREATE TABLE outcome (seq INTEGER PRIMARY KEY, outcome BLOB NOT NULL) STRICT;

  CREATE TABLE reply (
    replyId INTEGER PRIMARY KEY,
    callerId TEXT NOT NULL,
    correlationId TEXT NOT NULL,
    kind TEXT NOT NULL,
    payload BLOB,
    at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX replyCaller ON reply (callerId, replyId);

  CREATE TABLE audit (
    sequence INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    event TEXT NOT NULL,
    callId TEXT NOT NULL,
    tool TEXT NOT NULL,
    session TEXT NOT NULL,
    bodyDigest TEXT NOT NULL,
    identity TEXT NOT NULL,
    detail BLOB NOT NULL
  ) STRICT;

  CREATE TABLE policy (version INTEGER NOT NULL, policy TEXT NOT NULL) STRICT;
  CREATE TABLE catalog (sequence INTEGER NOT NULL, digest TEXT NOT NULL, modules TEXT NOT NULL) STRICT;
  CREATE TABLE worker (workerId TEXT PRIMARY KEY, entry TEXT NOT NULL, expiresAt INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  `,
  `ALTER TABLE call ADD COLUMN abandonedFence INTEGER;`,
  `CREATE TABLE injected (
    session TEXT NOT NULL,
    run TEXT NOT NULL,
    tool TEXT NOT NULL,
    by TEXT NOT NULL,
    PRIMARY KEY (session, run, tool, by)
  ) STRICT, WITHOUT ROWID;`,
  // Adds the history of a run: its latest calls with their sequence and, once they have ended, with their result.
  `ALTER TABLE session ADD COLUMN endedRuns INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE run ADD COLUMN startedAt INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE run ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE run ADD COLUMN attemptsByTool TEXT NOT NULL DEFAULT '{}';
  ALTER TABLE run ADD COLUMN cost INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE run ADD COLUMN endedRuns INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE call ADD COLUMN sequence INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE call ADD COLUMN toolSequence INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE call ADD COLUMN attempt TEXT;
  CREATE INDEX callRun ON call (session, run, sequence);`,
  `
  ALTER TABLE call ADD COLUMN approval TEXT;
  ALTER TABLE call ADD COLUMN grantId TEXT;
  ALTER TABLE audit ADD COLUMN approval TEXT;
  ALTER TABLE audit ADD COLUMN grantId TEXT;

  -- Goes with its call. bytes are those of the question and of edited arguments; they count with the call's own.
  CREATE TABLE approval (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    callSeq INTEGER NOT NULL,
    state TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    fence INTEGER NOT NULL,
    askedBy TEXT NOT NULL,
    mayHaveRun INTEGER NOT NULL,
    wantsCallback INTEGER NOT NULL,
    leftMs INTEGER NOT NULL,
    requestedAt INTEGER NOT NULL,
    expiresAt INTEGER NOT NULL,
    resolvedAt INTEGER,
    resolution TEXT,
    grantId TEXT,
    callback TEXT NOT NULL DEFAULT 'none',
    claimedBy TEXT,
    claimId TEXT,
    claimedUntil INTEGER,
    votes TEXT NOT NULL DEFAULT '[]',
    question TEXT NOT NULL,
    editedArguments TEXT
  ) STRICT;
  CREATE INDEX approvalCall ON approval (callSeq);
  CREATE INDEX approvalPending ON approval (expiresAt) WHERE state = 'pending';
  CREATE INDEX approvalResolved ON approval (resolvedAt) WHERE state <> 'pending';
  CREATE INDEX approvalWaiting ON approval (resolvedAt) WHERE callback = 'waiting';
  CREATE INDEX approvalClaimed ON approval (claimedUntil) WHERE callback = 'claimed';
  CREATE INDEX approvalClaim ON approval (claimId) WHERE claimId IS NOT NULL;

  -- facts do not change. What the audit says of the call it came from stands here, because the call is forgotten first.
  CREATE TABLE grant (
    id TEXT PRIMARY KEY,
    scope TEXT NOT NULL,
    tool TEXT NOT NULL,
    facts TEXT NOT NULL,
    createdAt INTEGER NOT NULL,
    expiresAt INTEGER NOT NULL,
    usesLeft INTEGER,
    revoked INTEGER NOT NULL DEFAULT 0,
    keyId TEXT NOT NULL,
    generation INTEGER NOT NULL,
    session TEXT NOT NULL,
    bodyDigest TEXT NOT NULL,
    identity TEXT NOT NULL,
    approval TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX grantSubject ON grant (scope, tool, createdAt);
  CREATE INDEX grantExpiry ON grant (expiresAt);
  `,
  `CREATE TABLE delegate (
    delegator TEXT NOT NULL,
    session TEXT NOT NULL,
    PRIMARY KEY (delegator, session)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX delegateSession ON delegate (session);`,
  AUDIT_TABLES,
  chainOldAudit,
  `DROP TABLE audit;
  ALTER TABLE grant ADD COLUMN run TEXT NOT NULL DEFAULT '';`,
  // Adds effects that wait to be delivered to platforms, and calls whose outcomes are sent there. `body` is kept while it may be needed.
  `
  CREATE TABLE effect (
    seq INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    callId TEXT NOT NULL,
    kind TEXT NOT NULL,
    platform TEXT NOT NULL,
    channel TEXT NOT NULL,
    origin TEXT NOT NULL,
    state TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    attemptsBefore INTEGER NOT NULL DEFAULT 0,
    publishedAt INTEGER NOT NULL,
    dueAt INTEGER NOT NULL,
    deliverMs INTEGER NOT NULL,
    expiresAt INTEGER NOT NULL,
    callEndsAt INTEGER NOT NULL,
    endedAt INTEGER,
    keepUntil INTEGER,
    bytes INTEGER NOT NULL,
    body BLOB,
    answer BLOB,
    problem TEXT,
    callerId TEXT,
    correlationId TEXT,
    claimedBy TEXT,
    claimId TEXT,
    claimedUntil INTEGER,
    redeliver INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX effectDue ON effect (platform, dueAt) WHERE state = 'queued';
  CREATE INDEX effectLive ON effect (callId, seq, bytes) WHERE endedAt IS NULL;
  CREATE INDEX effectClaimed ON effect (claimedUntil) WHERE state = 'claimed';
  CREATE INDEX effectClaim ON effect (claimId) WHERE claimId IS NOT NULL;
  CREATE INDEX effectExpiry ON effect (expiresAt) WHERE state = 'queued';
  CREATE INDEX effectForget ON effect (keepUntil) WHERE keepUntil IS NOT NULL;
  CREATE INDEX effectKept ON effect (endedAt, bytes) WHERE endedAt IS NOT NULL AND body IS NOT NULL;

  CREATE TABLE redirect (
    callId TEXT PRIMARY KEY,
    platform TEXT NOT NULL,
    channel TEXT NOT NULL,
    origin TEXT NOT NULL,
    lookAt INTEGER NOT NULL,
    deliverMs INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX redirectDue ON redirect (lookAt);
  `,
  // Adds tokens of the gateway, and digests of what may be used once. `facts` do not change.
  `
  CREATE TABLE token (
    id TEXT PRIMARY KEY,
    secretHash BLOB NOT NULL,
    facts TEXT NOT NULL,
    createdAt INTEGER NOT NULL,
    expiresAt INTEGER NOT NULL,
    revokedAt INTEGER,
    forgetAt INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX tokenCreated ON token (createdAt, id);
  CREATE INDEX tokenForget ON token (forgetAt);

  CREATE TABLE once (digest TEXT PRIMARY KEY, attempt TEXT NOT NULL, expiresAt INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE INDEX onceExpiry ON once (expiresAt);
  `,
  // Moves small envelopes and outcomes into the call's own row. Replies are held in memory, and are read from the file only by number.
  `
  ALTER TABLE call ADD COLUMN envelope BLOB;
  ALTER TABLE call ADD COLUMN outcome BLOB;
  UPDATE call SET envelope = (
    SELECT envelope FROM body WHERE body.seq = call.seq AND resumedWith IS NULL AND length(envelope) <= 2048
  ) WHERE state <> 'settled';
  DELETE FROM body WHERE seq IN (SELECT seq FROM call WHERE envelope IS NOT NULL);
  DROP INDEX replyCaller;
  `,
  // Keeps the mark of the last signed statement in its own table, so that the loss of statements is noticed.
  `
  ${NUMBER_STATEMENTS}
  CREATE TABLE auditMark (id INTEGER PRIMARY KEY CHECK (id = 1), number INTEGER NOT NULL, hash TEXT NOT NULL) STRICT;
  `,
  // Adds who has seen what a question masks. Existing questions have no list of masks, so they need a reveal too.
  `ALTER TABLE approval ADD COLUMN revealedBy TEXT NOT NULL DEFAULT '[]';`,
  // Adds calls owed to MCP clients (`holder` is NULL for an entry whose request is not open), and sessions that gateways opened for tokens.
  `
  CREATE TABLE owed (
    scope TEXT NOT NULL,
    name TEXT NOT NULL,
    digest TEXT NOT NULL,
    holder TEXT,
    attempt TEXT NOT NULL,
    madeAt INTEGER NOT NULL,
    owedFrom INTEGER NOT NULL,
    expiresAt INTEGER NOT NULL,
    PRIMARY KEY (scope, name)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX owedDigest ON owed (scope, digest, madeAt);
  CREATE INDEX owedExpiry ON owed (expiresAt);

  CREATE TABLE tokenSession (
    token TEXT NOT NULL,
    session TEXT NOT NULL,
    expiresAt INTEGER NOT NULL,
    PRIMARY KEY (token, session)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX tokenSessionExpiry ON tokenSession (expiresAt);

  CREATE TABLE owedHolder (holder TEXT PRIMARY KEY, beatAt INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  `,
  // Stores when loop detection ended runs, instead of how many. The time of earlier ends is unknown, so the latest possible time is used.
  `
  ALTER TABLE session ADD COLUMN loopEnds TEXT NOT NULL DEFAULT '[]';
  UPDATE session SET loopEnds = json_array(json_array(NULL, lastSeenAt, lastSeenAt)) WHERE endedRuns = 1;
  UPDATE session SET loopEnds = json_array(json_array(NULL, lastSeenAt, lastSeenAt), json_array(NULL, lastSeenAt, lastSeenAt))
    WHERE endedRuns > 1;
  ALTER TABLE session DROP COLUMN endedRuns;
  ALTER TABLE run ADD COLUMN loopEnds TEXT NOT NULL DEFAULT '[]';
  UPDATE run SET loopEnds = json_array(startedAt) WHERE endedRuns = 1;
  UPDATE run SET loopEnds = json_array(startedAt, startedAt) WHERE endedRuns > 1;
  ALTER TABLE run DROP COLUMN endedRuns;
  `,
  // Adds the kept bytes of each subject's calls. The `bytes` of a settled call are those of its outcome and its questions.
  `
  CREATE TABLE subjectRetained (scope TEXT PRIMARY KEY, bytes INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  INSERT INTO subjectRetained SELECT scope, sum(bytes) FROM call WHERE state = 'settled' GROUP BY scope HAVING sum(bytes) > 0;
  `,
  // Adds who opened a session, as JSON; NULL for existing sessions.
  `ALTER TABLE session ADD COLUMN openedBy TEXT;`,
  // Adds the stalls of a session: calls in its runs that brought nothing new.
  `ALTER TABLE session ADD COLUMN stalls TEXT NOT NULL DEFAULT '[]';`,
  // Adds the pins of MCP servers, and what workers saw at each server.
  `
  CREATE TABLE pins (version INTEGER NOT NULL, upstreams TEXT NOT NULL) STRICT;
  CREATE TABLE offer (upstream TEXT PRIMARY KEY, seen TEXT NOT NULL) STRICT, WITHOUT ROWID;
  `,
];
