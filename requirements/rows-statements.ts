import { onBothStores, test, type Requirement } from './requirement.ts';

const STATEMENTS = 'test/audit/statements.test.ts';
const ERASED = 'test/audit/erased-bytes.test.ts';
const INDEX = 'test/audit/index-columns.test.ts';

/** Signed statements are numbered and chained. */
export const ROWS_STATEMENTS: readonly Requirement[] = [
  {
    id: 'T1',
    says: 'The trail cannot be shortened or set back: signed statements are numbered and chained, and the last one is known beside the keys and in the store.',
    tests: [
      test(STATEMENTS, 'are found wanting whatever was done to them'),
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
    ],
    mutants: ['statements-are-not-chained'],
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
];
