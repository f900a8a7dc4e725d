import { bytes, filePath, group, milliseconds, oneOf, option, optional, text, wholeNumber } from './option.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;
const MIB = 1024 * 1024;
const MAX_RECORDS = 100_000_000;

const postgres = group({
  url: optional(text('a postgres:// address', /^postgres(ql)?:\/\/\S+$/), 'Address of the PostgreSQL database.'),
  password: optional(text('a password'), 'Password to log in with. In a file only as a ${NAME} placeholder.', {
    secret: true,
  }),
  passwordFile: optional(filePath, 'File that holds the password; readable by its owner only.'),
  schema: option(
    text('a name in lower case', /^[a-z_][a-z0-9_]{0,62}$/),
    'sallyport',
    'Schema that the tables are in.',
  ),
});

/** How many records may wait for the sink, and for how long, before calls are refused. */
const late = (records: number, lateMs: number) =>
  group({
    records: option(wholeNumber(1, MAX_RECORDS), records, 'Records of one lane that wait for the sink.'),
    lateMs: option(milliseconds(SECOND, 30 * DAY), lateMs, 'Time since the sink last took any.'),
  });

export const auditSchema = group({
  sink: optional(oneOf('postgres', 'sqlite'), 'Where a gateway keeps the audit of a Redis store: see audit.md.', {
    otherwise: 'the embedded store keeps its own; on Redis records wait for a sink',
  }),
  file: optional(filePath, 'File of the sqlite sink, for a deployment with one gateway.'),
  postgres: postgres.prefault({}),
  keys: optional(filePath, 'Folder of the keys that sign the heads of the chains.', {
    otherwise: 'audit-keys in the folder of the store',
  }),
  trustedKeys: optional(
    filePath,
    'Folder with the public keys of other gateways. What they have signed is trusted, beside what audit.keys has signed.',
    { otherwise: 'only keys in audit.keys are trusted' },
  ),
  auditorKeyFile: optional(
    filePath,
    "File of the auditor's public key. Workers seal the whole arguments of privileged calls to it: see audit.md.",
    { otherwise: 'nothing is sealed' },
  ),
  signEveryMs: option(milliseconds(100, DAY), MINUTE, 'How often new heads are signed.'),
  maxAgeMs: optional(milliseconds(MINUTE, 100 * 365 * DAY), 'Records older than this are deleted.', {
    otherwise: 'kept for ever',
  }),
  maxBytes: optional(bytes(MIB, 1024 * 1024 * 1024 * MIB), 'Beyond this size the oldest records are deleted.', {
    otherwise: 'any size',
  }),
  privileged: late(100_000, MINUTE).prefault({}),
  whenLate: option(
    oneOf('refuse', 'accept'),
    'refuse',
    'What becomes of calls that are not privileged when the audit is late.',
  ),
  everything: late(500_000, 10 * MINUTE).prefault({}),
});
