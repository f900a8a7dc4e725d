import { test, type Requirement } from './requirement.ts';

const INSIDERS = 'test/audit/insiders.test.ts';

/** Requirements: what the holder of a role's Redis password can and cannot do to the audit. */
export const ROWS_AUDIT_ROLES: readonly Requirement[] = [
  {
    id: 'J1',
    says: 'The audit holds against each role: who has its Redis password can append, and neither removes, changes, reorders nor hides a record that waits.',
    tests: [
      test(INSIDERS, 'cannot be trimmed, popped, overwritten, renamed, copied, read or made another key'),
      test(INSIDERS, 'keeps every record when one that was made up took its number first'),
      test('test/deploy/acl-boundary.test.ts', 'has these commands on the audit, and no other command of the server'),
      test('test/audit/drain.test.ts', 'removes by position: a repeated command removes nothing twice'),
    ],
    mutants: ['made-up-record-displaces-another', 'drain-trims-by-length', 'drain-trims-what-it-has-not-read'],
  },
  {
    id: 'J2',
    says: 'A record is written before everything else of its step: what cannot be audited leaves nothing behind.',
    tests: [test('test/redis/audit-first.test.ts', 'nothing is written when its record cannot be')],
    mutants: ['outcome-before-its-record', 'question-before-its-record'],
  },
  {
    id: 'J3',
    says: 'Garbage, made-up records, floods and a nonsense count stop neither settles nor the drain, and are named.',
    tests: [
      test(INSIDERS, 'takes garbage for what it is: settles and the drain go on, and verify names it'),
      test(INSIDERS, 'of 100,000 elements and some huge ones makes few statements, and no record waits for ever'),
      test(INSIDERS, 'counts again when its count was made nonsense, and settles meanwhile'),
      test(INSIDERS, 'takes what no record can be made of for garbage'),
      test(INSIDERS, 'counts the records that wait, and none of the garbage that begins like a record'),
      test('test/audit/drain.test.ts', 'past a made-up record that the server could not keep as it is'),
    ],
    mutants: [
      'foreign-element-stops-the-drain',
      'foreign-elements-are-not-named',
      'nonsense-count-stops-settles',
      'absurd-count-is-believed',
      'nested-identity-stops-the-drain',
      'adopt-counts-garbage',
    ],
  },
  {
    id: 'J4',
    says: 'A lost record is noticed by the lane’s own count, and a signed gap leads on over exactly that range.',
    tests: [
      test(INSIDERS, 'stops the drain until an operator accepts the gap; the trail is whole but for exactly that'),
      test(INSIDERS, 'is not covered by a gap of another range, of another lane or of a key that is not trusted'),
      test(INSIDERS, 'is covered by a gap that stands behind one which cannot be checked'),
      test(INSIDERS, 'is covered by a gap of another gateway as soon as its key is in audit.trustedKeys'),
      test('test/audit/retention-beside-others.test.ts', 'gives the drain no gap that a rollback has given up'),
      test(INSIDERS, 'is noticed by verify also where no drain has looked, and where the sink has nothing yet'),
      test('src/audit/accepted-gaps.test.ts', 'a gap that ends too early'),
      test('test/audit/cli.test.ts', 'stops at a loss and is led on by accept-gap'),
      test('test/deploy/upgrade.test.ts', 'loses no record that waited in the stream of that release'),
    ],
    mutants: [
      'gap-covers-more-than-its-range',
      'gap-of-a-stranger-hides-later-ones',
      'gap-given-up-still-counts',
      'verify-crosses-any-gap',
      'verify-trusts-what-was-handed-over',
      'upgrade-forgets-the-old-stream',
    ],
  },
  {
    id: 'J5',
    says: 'Records with a time in the future hide no others: tail and the gateway show what is not ahead of the time of now, however long they run and whatever their own clock says.',
    tests: [
      test('test/audit/cli.test.ts', 'tail --follow shows what is to come, however long it has been running'),
      test('src/cli/filter-until-now.test.ts', 'at every look anew'),
      test('test/gateway/audit-clock.test.ts', 'whose clock is behind shows the newest records'),
    ],
    mutants: ['tail-looks-at-the-clock-once', 'gateway-asks-its-own-clock'],
  },
];
