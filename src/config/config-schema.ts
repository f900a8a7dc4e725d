import type { z } from 'zod';
import { LIMITS } from '../domain/call/call.ts';
import { DEFAULT_FOLDER } from '../domain/default-folder.ts';
import { auditSchema } from './audit-schema.ts';
import { gatewayHttp } from './gateway-schema.ts';
import { hookList } from './hook-schema.ts';
import { mcpSchema } from './mcp-schema.ts';
import { serviceGroup } from './service-schema.ts';
import { upstreamGroup } from './upstream-schema.ts';
import { platformGroup } from './platform-schema.ts';
import {
  addresses,
  bytes,
  filePath,
  group,
  milliseconds,
  oneOf,
  option,
  optional,
  text,
  url,
  wholeNumber,
  yesOrNo,
} from './option.ts';
import { telemetrySchema } from './telemetry-schema.ts';
import { secretProviders } from './secret-schema.ts';

/** The modules that `dev` serves if none are named, relative to the working directory. */
export const DEFAULT_MODULES = 'modules';

const SECOND = 1000;
const HOUR = 60 * 60 * SECOND;
const DAY = 24 * HOUR;
const MIB = 1024 * 1024;
const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
const STORE_NAME = /^[A-Za-z0-9][A-Za-z0-9_:.-]{0,63}$/;

/** Outcomes and keys are kept for at least this long after their call. Within that time a caller may repeat a call. */
export const MIN_RETENTION_MS = DAY;

const redis = group({
  url: optional(url('a redis:// or rediss:// address', /^rediss?:\/\/\S+$/), 'Address of one Redis or Valkey server.', {
    flag: '--redis',
    otherwise: 'redis://127.0.0.1:6379, unless cluster or sentinels are given',
  }),
  cluster: optional(addresses, 'Nodes of a Redis Cluster; some of them are enough.'),
  sentinels: optional(addresses, 'Sentinels that know the current primary.'),
  sentinelName: optional(text('a name'), 'Name of the primary among the sentinels.'),
  username: optional(text('a user name'), 'User to log in as.'),
  password: optional(text('a password'), 'Password to log in with. In a file only as a ${NAME} placeholder.', {
    secret: true,
  }),
  passwordFile: optional(filePath, 'File that holds the password; readable by its owner only.'),
  tls: group({
    enabled: option(yesOrNo, false, 'Encrypt the connection. A rediss:// address does so by itself.'),
    caFile: optional(filePath, 'Certificate authority to trust, PEM.', { otherwise: "the system's" }),
    certFile: optional(filePath, 'Client certificate, PEM.'),
    keyFile: optional(filePath, 'Key of the client certificate, PEM.'),
  }).prefault({}),
  name: option(
    text('letters, digits, _ : . -', STORE_NAME),
    'sallyport',
    'Deployments with different names share a server.',
    {
      flag: '--redis-name',
    },
  ),
  lanes: optional(wholeNumber(1, 1024), 'Shards of a new store; an existing one keeps its number.', {
    otherwise: '1, and 16 on a cluster',
  }),
  create: option(
    yesOrNo,
    true,
    'Make the store if there is none. With false only `sallyport store adopt` does, so that a server that lost its data is not taken for a new one.',
  ),
  commandTimeoutMs: option(
    milliseconds(100, 10 * 60 * SECOND),
    10 * SECOND,
    'A command without an answer for so long is given up.',
  ),
  patienceMs: option(
    milliseconds(0, HOUR),
    15 * SECOND,
    'How long an unreachable server is waited for. One-shot commands wait at most 5 seconds unless this is given.',
  ),
});

const health = () =>
  group({
    enabled: option(yesOrNo, true, 'Serve /healthz and /readyz.'),
    host: option(text('a host name or address', /^[A-Za-z0-9._:-]{1,255}$/), '127.0.0.1', 'Where they are served.'),
    port: optional(wholeNumber(1, 65_535), 'Port of /healthz and /readyz.', {
      flag: '--port',
      otherwise: 'a free one',
    }),
    open: option(yesOrNo, false, 'Allow a host that others than this machine can reach. There is no login.'),
  });

const worker = group({
  modules: optional(filePath, 'A folder of modules, or a manifest.', {
    flag: '--modules',
    otherwise: `${DEFAULT_MODULES} in dev; a worker must be given it`,
  }),
  pool: option(text('a name', NAME), 'default', 'The pool whose calls this worker takes.', { flag: '--pool' }),
  concurrency: option(wholeNumber(1, 4096), 64, 'Calls that run at the same time.', { flag: '--concurrency' }),
  leaseMs: option(milliseconds(300, HOUR), 15 * SECOND, 'A worker that is silent for so long has lost its calls.'),
  heartbeatMs: optional(milliseconds(50, HOUR), 'How often leases are renewed; at most a third of leaseMs.', {
    otherwise: 'a third of leaseMs',
  }),
  graceMs: option(milliseconds(0, DAY), 30 * SECOND, 'How long a drain waits for calls under way.'),
  retentionMs: option(milliseconds(1, 365 * DAY), DAY, 'How long outcomes and keys are kept; at least 24 hours.'),
  health: health().prefault({}),
  hooks: optional(
    hookList,
    'Plugin files and commands that are asked before calls and about results, and told after calls: see hooks.md.',
    {
      otherwise: 'none',
    },
  ),
  tasks: option(
    yesOrNo,
    false,
    'Serve the built-in module tasks: agents check, await and cancel their own long calls. In one pool only.',
  ),
  upstreamsFolder: optional(filePath, 'Folder with the homes of the programs among the MCP servers.', {
    otherwise: '`upstreams` in the folder of the embedded store; on Redis, in `.sallyport` of the working folder',
  }),
  watch: optional(yesOrNo, 'Load modules again when their files change.', {
    flag: '--watch',
    otherwise: 'true in dev, false in worker',
  }),
});

const webhook = group({
  url: optional(
    text('an https:// address', /^https?:\/\/\S+$/),
    'Where approvers are told of questions and their ends, by signed POST: see approvals.md.',
    { otherwise: 'approvers look for themselves' },
  ),
  secret: optional(
    text('a secret of 16 characters or more', /^[^\p{Cc}]{16,}$/u),
    'What requests are signed with. In a file only as a ${NAME} placeholder.',
    { secret: true },
  ),
  secretFile: optional(filePath, 'File that holds the secret; readable by its owner only.'),
  timeoutMs: option(milliseconds(100, 60 * SECOND), 5 * SECOND, 'How long one attempt may take; there are four.'),
});

const admission = group({
  liveCalls: option(wholeNumber(1, 10_000_000), 100_000, 'Calls that are not settled yet.'),
  liveBytes: option(bytes(1, 1024 * 1024 * MIB), 256 * MIB, 'Their size together.'),
  retainedBytes: option(bytes(1, 1024 * 1024 * MIB), 1024 * MIB, 'Size of all kept outcomes together.'),
  subjectWindow: option(wholeNumber(1, 10_000), 64, "One subject's calls that stand in a pool's queue at once."),
  subjectBacklog: option(wholeNumber(0, 10_000_000), 20_000, "One subject's calls that wait behind them."),
  subjectLiveBytes: optional(bytes(1, 1024 * 1024 * MIB), "Size of one subject's calls that are not settled yet.", {
    otherwise: 'a quarter of liveBytes',
  }),
  subjectParkedBytes: optional(
    bytes(1, 1024 * 1024 * MIB),
    "Size of one subject's calls that wait for a person, with their questions. It is part of subjectLiveBytes.",
    { otherwise: 'half of subjectLiveBytes' },
  ),
  subjectRetainedBytes: optional(bytes(1, 1024 * 1024 * MIB), "Size of one subject's kept outcomes.", {
    otherwise: 'a quarter of retainedBytes',
  }),
  subjectPendingApprovals: option(
    wholeNumber(1, 10_000_000),
    1000,
    "Questions about one subject's calls that wait for a person.",
  ),
});

const effects = group({
  perCall: option(wholeNumber(0, 10_000), 100, 'What one call may do on its platform: messages, files, operations.'),
  bytesPerCall: option(bytes(0, 64 * MIB), 8 * MIB, 'Their size together.'),
  queuedBytes: option(bytes(1, 1024 * MIB), 64 * MIB, 'Size of what waits to go out, per lane of the store.'),
  keptBytes: option(bytes(0, 1024 * MIB), 32 * MIB, 'Size of kept messages and of failed ones, per lane.'),
  retentionMs: option(milliseconds(1, 365 * DAY), DAY, 'How long what went out, or failed, is remembered.'),
});

/** Every option of the plane: type, default, unit and one sentence. `docs/config.md` is generated from this schema. */
export const configSchema = group({
  store: option(oneOf('embedded', 'redis'), 'embedded', 'Where everything durable is: one SQLite file, or Redis.', {
    flag: '--store',
  }),
  folder: option(filePath, DEFAULT_FOLDER, 'Folder of the embedded store.', { flag: '--folder' }),
  redis: redis.prefault({}),
  worker: worker.prefault({}),
  gateway: group({
    health: health().prefault({}),
    http: gatewayHttp.prefault({}),
    mcp: mcpSchema.prefault({}),
    sealKeyFile: optional(
      filePath,
      'File with the key that seals what MCP clients carry for us; readable by its owner only, the same for all gateways.',
      { otherwise: 'seal.key in the folder of the embedded store, made when it is needed' },
    ),
  }).prefault({}),
  audit: auditSchema.prefault({}),
  services: optional(serviceGroup, 'Settings of the shipped services, and services of your own: see services.md.', {
    otherwise: 'conversations, knowledge and tasks, when a module needs them',
  }),
  upstreams: optional(upstreamGroup, 'MCP servers whose tools are modules: see upstreams.md.', {
    otherwise: 'none',
  }),
  approvals: group({ webhook: webhook.prefault({}) }).prefault({}),
  platforms: optional(platformGroup, 'Where sessions can be, and how messages get there: see platform.md.', {
    otherwise: 'none; tools cannot send',
  }),
  effects: effects.prefault({}),
  admission: admission.prefault({}),
  secrets: group({
    providers: optional(secretProviders, 'Where the secrets come from that tools may be given: see secrets.md.', {
      otherwise: 'there are none',
    }),
  }).prefault({}),
  redaction: group({
    keyFile: optional(
      filePath,
      'File with the key of the marks that stand in place of secrets in audit, approvals and logs; readable by its owner only.',
      {
        otherwise:
          'redaction.key in the folder of the embedded store, made when it is needed; on Redis, a new key with each process',
      },
    ),
  }).prefault({}),
  policyFile: optional(
    filePath,
    'Roles, permissions and agents that `dev` writes at its start and when the file changes.',
    {
      flag: '--policy',
      otherwise: 'a new embedded store is open to everybody, except for privileged tools',
      live: true,
    },
  ),
  telemetry: telemetrySchema.prefault({}),
  log: group({
    level: optional(oneOf('debug', 'info', 'warn', 'error'), 'The least important lines that are logged.', {
      flag: '--log-level',
      otherwise: 'warn in dev, info in worker and gateway',
      live: true,
    }),
  }).prefault({}),
});

export type Config = z.output<typeof configSchema>;

/** Min value of `liveBytes` and of subject shares. Below it, a call with the largest arguments could never be accepted. */
export const MIN_LIVE_BYTES = LIMITS.argumentsBytes;
