import type { Mutant } from '../mutant.ts';
import { lua } from './places.ts';

const SAFETY = 'test/redis/server-safety.test.ts';

/** Bugs in how processes start and end: checks of the store that is opened, drains, and data of an unknown or older version. */
export const PLANE: readonly Mutant[] = [
  {
    id: 'drain-abandons-running-calls',
    bug: 'A worker that is told to stop gives its running calls no time.',
    file: 'src/worker/in-flight.ts',
    find: 'performance.now() + graceMs',
    replace: 'performance.now()',
    caughtBy: [
      {
        file: 'test/plane/drain.test.ts',
        title: 'finishes its 20 running calls and leaves 20 queued ones to another worker',
      },
    ],
  },
  {
    id: 'drain-takes-what-comes-late',
    bug: 'A worker that is told to stop begins calls that its last read brings.',
    file: 'src/worker/consume.ts',
    find: 'if (!stopped) return runAll(answer, taken);',
    replace: 'if (!stopped || answer.deliveries.length > 0) return runAll(answer, taken);',
    caughtBy: [
      { file: 'src/worker/consume.test.ts', title: 'gives back at once what its reads of' },
      { file: 'src/worker/consume.test.ts', title: 'gives nested calls back that a read brings after the end' },
    ],
  },
  {
    id: 'gateway-drops-the-key',
    bug: 'A gateway makes a new call of every request, whatever key it brings.',
    file: 'src/gateway/api/calls.ts',
    find: '...(key === undefined ? {} : { key }),',
    replace: '...(key === undefined ? {} : {}),',
    caughtBy: [
      { file: 'test/gateway/api-calls.test.ts', title: 'R09 a key whose call is under way gives the same handle' },
    ],
  },
  {
    id: 'compiled-schemas-kept-by-number',
    bug: 'However large schemas are, as many compiled ones are kept.',
    file: 'src/modules/catalog/validate-arguments.ts',
    find: 'if (characters + wanted <= maxCharacters) return;',
    replace: 'if (kept.size < maxCharacters) return;',
    caughtBy: [
      {
        file: 'src/modules/catalog/validate-arguments.test.ts',
        title: 'keeps as many as their schemas leave room for, and the newest in any case',
      },
    ],
  },
  {
    id: 'unknown-version-accepted',
    bug: 'An envelope of any version is read as if it were ours.',
    file: 'src/domain/call/envelope.ts',
    find: "fields['version'] !== ENVELOPE_VERSION",
    replace: "fields['version'] === undefined",
    caughtBy: [{ file: 'src/domain/call/envelope.test.ts', title: 'refuses version' }],
  },
  {
    id: 'unknown-schema-opened',
    bug: 'A store of another release’s schema is opened as if it were ours.',
    file: 'src/stores/redis/incarnation-record.ts',
    find: 'if (schema !== SCHEMA_VERSION) throw',
    replace: "if (schema === '') throw",
    caughtBy: [{ file: SAFETY, title: 'refuses a store of an unknown schema version' }],
  },
  {
    id: 'eviction-policy-not-checked',
    bug: 'Start-up takes a Redis that throws data away when its memory is full.',
    file: 'src/stores/redis/safety.ts',
    find: "facts.maxmemoryPolicy !== 'noeviction'",
    replace: "facts.maxmemoryPolicy === ''",
    caughtBy: [{ file: SAFETY, title: 'that evicts' }],
  },
  {
    id: 'append-only-file-not-checked',
    bug: 'Start-up takes a Redis that writes nothing to disk.',
    file: 'src/stores/redis/safety.ts',
    find: 'if (!facts.appendOnly)',
    replace: "if (facts.version === '')",
    caughtBy: [{ file: SAFETY, title: 'without an append-only file' }],
  },
  {
    id: 'old-server-not-refused',
    bug: 'Start-up takes a Redis that is too old for what is asked of it.',
    file: 'src/stores/redis/safety.ts',
    find: 'if (!(major >= 7))',
    replace: 'if (!(major >= 1))',
    caughtBy: [{ file: SAFETY, title: 'that is too old' }],
  },
  {
    id: 'incarnation-not-checked',
    bug: 'Workers go on after FLUSHALL as if the empty store were theirs.',
    file: lua('shared/lane'),
    find: "return redis.call('HGET', meta_key, 'incarnation') == incarnation",
    replace: 'return true',
    caughtBy: [{ file: SAFETY, title: 'stops every process after FLUSHALL, and nothing is made anew' }],
  },
  {
    id: 'older-data-goes-unnoticed',
    bug: 'Workers go on when an older dataset has taken the place of the one they knew.',
    file: 'src/stores/redis/claim-calls.ts',
    find: 'if (sequence < known) {',
    replace: 'if (sequence < 0) {',
    caughtBy: [{ file: SAFETY, title: 'is noticed when older data took its place' }],
  },
  {
    id: 'embedded-second-opener-let-in',
    bug: 'Two processes can own one embedded store.',
    file: 'src/stores/embedded/ownership.ts',
    find: "database.execute('BEGIN EXCLUSIVE');",
    replace: "database.execute('BEGIN');",
    caughtBy: [{ file: 'src/stores/embedded/ownership.test.ts', title: 'ownership is held by one at a time' }],
  },
];
