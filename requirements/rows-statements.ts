import { onBothStores, test, type Requirement } from './requirement.ts';

const STATEMENTS = 'test/audit/statements.test.ts';
const ERASED = 'test/audit/erased-bytes.test.ts';
const RETENTION = 'test/audit/retention.test.ts';
const BESIDE = 'test/audit/retention-beside-others.test.ts';
const INDEX = 'test/audit/index-columns.test.ts';

/** Requirements: signed statements are numbered and chained. */
export const ROWS_STATEMENTS: readonly Requirement[] = [
  {
    id: 'T1',
    says: 'The trail cannot be shortened or set back: signed statements are numbered and chained, and the last one is known beside the keys and in the store.',
    tests: [
      test(STATEMENTS, 'fail verification after any change by a writer of the trail without the keys'),
      test(STATEMENTS, 'are not signed any further on a trail that was set back'),
      test(STATEMENTS, 'are dropped only with a signature that says how far'),
      test(STATEMENTS, 'of several signers at once are one chain'),
      test(STATEMENTS, 'have to be there in time'),
      ...onBothStores('the mark of the last signed statement moves forward and never back'),
      test('test/audit/set-back.test.ts', 'is noticed by verify, doctor and dev'),
    ],
    mutants: [
      'statement-numbers-are-not-checked',
      'verify-ignores-a-mark-ahead',
      'signer-ignores-a-mark-ahead',
      'cut-drops-statements-silently',
      'unsigned-records-pass',
      'statements-are-added-unseen',
      'store-mark-goes-back',
    ],
  },
  {
    id: 'T2',
    says: 'Statements from before there were numbers are covered by the first one with a number, and after a restore of an older copy an operator goes on with a signature that verify names.',
    tests: [
      test(STATEMENTS, 'of a release without numbers are covered by the first one'),
      test('test/audit/old-sinks.test.ts', 'keeps its statements in their order'),
      test(STATEMENTS, 'go on after a rollback that was accepted with a signature'),
      test('test/audit/set-back.test.ts', 'a backup that was restored and adopted is named by verify'),
      test(BESIDE, 'signs on after a restore that an operator has accepted, without a restart'),
    ],
    mutants: ['statements-are-not-chained', 'accepted-restore-stops-signing'],
  },
  {
    id: 'T3',
    says: 'The columns that records are found by show no record as one of another call and bring none in: verify compares them with the chained text, queries leave out what does not answer, and open prints nothing.',
    tests: [
      test(INDEX, 'are compared with the record by verify, which names it'),
      test(INDEX, 'cannot move the last record past an erasure or a cut'),
      test(INDEX, 'cannot bring in a record that stands before the chain'),
      test(INDEX, 'make no query show the records of another call or time: it leaves them out and says so'),
      test(INDEX, 'never make open print the arguments of another call'),
      test(INDEX, 'never make open take another start for the last one'),
    ],
    mutants: [
      'verify-ignores-the-index',
      'query-believes-the-index',
      'open-believes-the-index',
      'verify-skips-what-stands-before-the-chain',
    ],
  },
  {
    id: 'T4',
    says: 'What was erased from a trail in SQLite is in none of its files any more: neither in free pages nor in the log.',
    tests: [
      test(ERASED, 'is in no file any more: neither in free pages nor in the log'),
      test(ERASED, 'is not left over in pages that retention has freed before'),
    ],
    mutants: ['erased-payloads-stay-in-free-pages', 'erased-payloads-stay-in-the-log'],
  },
  {
    id: 'T5',
    says: 'Retention deletes only what it has verified, up to a signed head: no time, size, record or statement that was changed in the sink gets records deleted, or signed, with a genuine signature.',
    tests: [
      test(RETENTION, 'cuts by age and by size with a signature, and the trail begins where that says'),
      test(RETENTION, 'deletes nothing that no signed head vouches for'),
      test(RETENTION, 'deletes no record whose time was changed'),
      test(RETENTION, 'deletes no record of a chain that was made anew without the key'),
      test(RETENTION, 'signed by a process that did not look'),
      test(RETENTION, 'what differs from the heads that this process signed last is not signed'),
      test(RETENTION, 'deletes nothing while statements are missing'),
      test(RETENTION, 'look again when another process has cut meanwhile'),
      test(RETENTION, 'measures a lane, and does not believe the size that the sink says'),
    ],
    mutants: [
      'retention-deletes-without-looking',
      'retention-deletes-what-is-not-signed',
      'retention-believes-the-size-in-the-sink',
      'later-head-replaces-an-earlier-one',
      'changed-chain-is-signed',
      'cut-drops-what-was-missing',
      'verify-mixes-before-and-after-a-cut',
    ],
  },
  {
    id: 'T6',
    says: 'Several gateways sign one trail with a key each. Keys are trusted because of files beside the gateway, and not because of the sink. A statement by another key stops deletions with a warning, and no gateway is unready because of it.',
    tests: [
      test('test/audit/several-gateways.test.ts', 'two gateways with a folder of keys each stay ready'),
      test(BESIDE, 'waits with a warning for a key that is not trusted, is no problem, and goes on when it is'),
      test(BESIDE, 'refuses a folder of trusted keys that is not there'),
    ],
    mutants: ['unknown-key-turns-the-gateway-red', 'trusted-keys-are-not-read'],
  },
  {
    id: 'T7',
    says: 'Retention keeps up: it reads each statement once, walks over a lane once however often others sign, and delays neither a signature nor the end of the process.',
    tests: [
      test(BESIDE, 'reads each statement once'),
      test(BESIDE, 'notices statements that were deleted or changed behind what it has read'),
      test(BESIDE, 'walks over a lane once, however often another gateway signs meanwhile'),
      test(BESIDE, 'neither delays a signature nor the end of the process'),
    ],
    mutants: [
      'retention-reads-all-statements-again',
      'deleted-statements-stay-trusted',
      'retention-walks-again-after-every-statement',
      'retention-holds-up-the-end',
    ],
  },
];
